"""The front door, where something is searched or started: `pw.solve` and `pw.launch`, and how a question is put and searched."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Mapping, Sequence, Union

from .front import Machines, Readable, load, read_plan
from .models.findings.finding import UnusableInput
from .models.reading import Reading
from .solver.verify import verify

if TYPE_CHECKING:
    from .models.answer import Answer
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .runtime.launch import Launch
    from .solver.searching.progress import OnProgress

_LOADING = ("dialect", "level", "set", "roots", "allow_env", "framework")


def solve(
    file: Union[Readable, Problem], cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *,
    previous: Union[Plan, str, Path, None] = None, lose: Sequence[Union[str, int]] = (), at_most: Mapping[str, int] | None = None,
    sandbox: bool = True, on_progress: OnProgress | None = None, memory: int = 4096, **options: Any,
) -> Answer:  # fmt: skip
    """A verified Plan for everything that the configuration leaves open, or the reason why there is none.

    Other options are those of `load`. Raises UnusableInput, with every Finding, for a configuration that has errors, and for nodes or
    terms that do not exist.

    Parameters
    ----------
    limit : how long to search, in deterministic time (about seconds).
    seed : the same configuration and seed give the same plan.
    previous : the plan that runs now, or its file: as few groups as possible move from it. `placewright.replan` also says which.
    lose : nodes that are gone, by name or by rank.
    at_most : terms of the objective, as they are printed, and what they may be at most.
    sandbox : search in a process of its own, which is stopped where it takes more than it may, and on Ctrl-C; then the answer is the
        best that was verified until then. Without it the search runs in this process, and a fault of the solver's ends that; Ctrl-C raises
        KeyboardInterrupt.
    on_progress : told of every better answer and bound (`placewright.solver.searching.progress.Progress`).
    memory : MiB that the search may take in its own process.
    """
    question = question_of(file, cluster, dialect, previous, lose, at_most, **options)
    return question.told(searching(limit, seed, sandbox, on_progress, memory, question.reading)(question.problem))


@dataclass(frozen=True)
class Question:
    """A problem without errors, and the configuration that it was read from, if any: texts of variables stay concealed in answers."""

    problem: Problem
    reading: Reading | None = None

    def told(self, answer: Answer) -> Answer:
        """The answer, in whose findings nothing is said that `allow_env` keeps secret."""
        if self.reading is None:
            return answer
        return replace(answer, findings=self.reading.document.environment.concealed(answer.findings))


def question_of(
    file: Union[Readable, Problem], cluster: Machines = None, dialect: str = "auto", previous: Union[Plan, str, Path, None] = None,
    lose: Sequence[Union[str, int]] = (), at_most: Mapping[str, int] | None = None, **options: Any,
) -> Question:  # fmt: skip
    """What is asked of `solve`. Raises UnusableInput for a configuration with errors, and for nodes or terms that do not exist."""
    from .models.problem import Problem

    reading = None
    if isinstance(file, Problem):
        problem = file
    else:
        reading = load(file, cluster, dialect, **options).to_solve
        report = verify(reading)
        if report.errors or reading.problem is None:
            raise UnusableInput(report.errors)
        problem = reading.problem
    if at_most:
        from .solver.objectives.caps import cap_of

        problem = replace(problem, caps=(*problem.caps, *(cap_of(name, str(most)) for name, most in at_most.items())))
    if previous is not None or lose:
        from .solver.pricing.near import near

        before = read_plan(previous) if isinstance(previous, (str, Path)) else previous
        problem = near(problem, before, [str(node) for node in lose])
    return Question(problem, reading)


def searching(
    limit: float, seed: int, sandbox: bool = True, on_progress: OnProgress | None = None, memory: int = 4096, reading: Reading | None = None
) -> Callable[[Problem], Answer]:
    """How problems are solved, with the options of `solve`; what the framework refuses in the file that was read is no answer to them.

    Raises ValueError for a limit that is no finite number above 0.
    """
    if not 0 < limit < math.inf:
        raise ValueError(f"a limit is a finite number of seconds above 0, not {limit}")
    from .planner.answer import answering
    from .planner.refusing import refusing
    from .solver.searching.progress import silent

    def search(problem: Problem) -> Answer:
        if sandbox:
            from .solver.sandbox.solve import solve as searched

            return searched(problem, limit, seed, on_progress or silent, memory)
        from .solver.searching.search import solve as searched_here

        return searched_here(problem, limit, seed, on_progress or silent)

    if sandbox:
        return answering(search, limit, seed, refuses=refusing(reading))
    from .planner.search.settle import settle

    return answering(search, limit, seed, settle, answer_interrupted=False, refuses=refusing(reading))


def launch(plan: Union[Plan, Readable], cluster: Machines = None, **options: Any) -> ContextManager[Launch]:
    """Running workers, exactly where the plan says: a context manager that leaves nothing behind.

    A configuration is solved first. Options are those of `load`, and of `placewright.runtime.launch.launch`: `address`,
    `simulate`, `worker`, `timeout`, `trusted_env`, `share_nodes`; with `restarts` or `elastic` it is placed anew, by the demands of the
    configuration, where nodes are lost or join.
    """
    from .models.placements.plan import Plan
    from .runtime.launch import launch as start

    if isinstance(plan, Plan):
        return start(plan, **options)
    reading = load(plan, cluster, **{name: options.pop(name) for name in _LOADING if name in options}).to_launch
    answer = solve(replace(reading, anew=None))  # what has ranks is launched on them, also where times would choose others
    if answer.plan is None:
        raise UnusableInput(answer.findings)
    return start(answer.plan, problem=reading.problem, reading=reading, **options)
