"""The front door: the verbs as functions. `import placewright as pw`, then `pw.load`, `pw.verify`, `pw.solve`, `pw.launch`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Mapping, Sequence, Union

from .models.findings.finding import UnusableInput
from .models.machines.cluster import Cluster
from .models.machines.shorthand import AsDeclared, looks_like_shorthand, read_shorthand
from .models.reading import Reading
from .solver.verify import verify as _verify

if TYPE_CHECKING:
    from .models.answer import Answer
    from .models.converted import Converted
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .models.report import Report
    from .runtime.launch import Launch
    from .solver.explaining.explanation import Explanation
    from .solver.searching.progress import OnProgress

Machines = Union[str, Path, Cluster, AsDeclared, None]
Readable = Union[str, Path, Reading]
_LOADING = ("dialect", "level", "set", "roots", "allow_env")


def cluster(text: str | Path) -> Cluster | AsDeclared:
    """The machines of a shorthand such as ``2x8xH100`` or of a cluster file.

    Raises ValueError for a shorthand that cannot be read, UnusableInput for a file that cannot.
    """
    if looks_like_shorthand(str(text)):
        return read_shorthand(str(text))
    from .models.machines.cluster_source import read_cluster

    return read_cluster(text)


def load(
    file: Readable,
    cluster: Machines = None,
    dialect: str = "auto",
    *,
    level: str = "placement",
    set: Sequence[str] = (),
    roots: Sequence[str | Path] = (),
    allow_env: Sequence[str] = (),
) -> Reading:
    """A configuration, read. What is wrong with it is in its `findings`; nothing is raised for a bad file.

    Parameters
    ----------
    file : a path, or a Reading, which is returned as it is.
    cluster : the machines, as an object, in one word or as the path of a cluster file; None where the file says all.
    dialect : ``auto``, ``native``, ``rlinf``, ``roll`` or ``verl``.
    level : ``placement``, or ``training`` to judge the batch arithmetic too.
    set : what is changed, as on the command line of Hydra: ``cluster.num_nodes=4``.
    roots : folders to look in for the groups of `defaults`, besides that of the file.
    allow_env : environment variables that interpolations may read; their text is never shown.
    """
    if isinstance(file, Reading):
        return file
    from .models.composition import Composer
    from .models.dialects.load import load as read

    composer = Composer(tuple(map(str, roots)), tuple(set), tuple(allow_env))
    return read(file, _machines(cluster), dialect, level, composer)


def verify(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Report:
    """The verdict on a configuration, with every Finding; options are those of `load`. Neither ortools nor ray is loaded."""
    return _verify(load(file, cluster, dialect, **options))


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
        report = _verify(reading, open_too=False)
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
    """How problems are solved, with the options of `solve`; what the framework refuses in the file that was read is no answer to them."""
    from .solver.planning.answering import answering
    from .solver.planning.choosing.refusing import refusing
    from .solver.searching.progress import silent

    def search(problem: Problem) -> Answer:
        if sandbox:
            from .solver.sandbox.solve import solve as searched

            return searched(problem, limit, seed, on_progress or silent, memory)
        from .solver.searching.search import solve as searched_here

        return searched_here(problem, limit, seed, on_progress or silent)

    if sandbox:
        return answering(search, limit, seed, refuses=refusing(reading))
    from .solver.planning.sizes.settling import settle

    return answering(search, limit, seed, settle, answer_interrupted=False, refuses=refusing(reading))


def convert(file: Readable, to: str, cluster: Machines = None, dialect: str = "auto", strict: bool = False, **options: Any) -> Converted:
    """The job of a configuration in the dialect `to`, with everything that was lost on the way, or the reasons why there is none.

    The new text was read again and verified, and every process is where it was. With `strict` a loss is a refusal. Other options
    are those of `load`. Raises ValueError if there is no such dialect.
    """
    from .solver.convert import convert as converted

    return converted(load(file, cluster, dialect, **options), to, strict)


def explain(file_or_code: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> str:
    """What a configuration comes to, or what a code such as ``PW102`` means and what mends it, as text.

    Of a configuration: what it needs, what shares with what, and how its numbers come about; options are those of `load`, and
    the level is ``training`` if none is given. `explanation` gives the same as an object. Raises ValueError for a code that does
    not exist.
    """
    from .report.page import means_code, read_page

    if isinstance(file_or_code, str) and means_code(file_or_code):
        from .report.explain import render
        from .solver.advice import ADVICE
        from .solver.rules import RULES

        return render(read_page(file_or_code, (*RULES, *ADVICE)))
    from .report.explanation.text import render as to_text

    return to_text(explanation(file_or_code, cluster, dialect, **options), level=options.get("level", "training"))


def explanation(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Explanation:
    """What a configuration comes to: its needs, what is shared, the derivations. Options are those of `load`."""
    from .solver.explaining.explain import explain as explained

    def read(machines: Machines) -> Reading:
        return load(file, machines, dialect, **{"level": "training", **options})

    return explained(read(cluster), read)


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
    reading = load(plan, cluster, **{name: options.pop(name) for name in _LOADING if name in options})
    answer = solve(replace(reading, anew=None))  # what has ranks is launched on them, also where times would choose others
    if answer.plan is None:
        raise UnusableInput(answer.findings)
    return start(answer.plan, problem=reading.problem, **options)


def read_plan(path: str | Path) -> Plan:
    """The plan in a file. Raises UnusableInput."""
    from .models.placements.plan_file import read_plan as read

    return read(path)


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan to a file, whole or not at all. Raises OSError."""
    from .models.placements.plan_file import plan_to_json, write_whole

    write_whole(path, plan_to_json(plan))


def _machines(given: Machines) -> Cluster | AsDeclared | None:
    """The machines in any form. Raises TypeError for what is none."""
    if isinstance(given, (str, Path)):
        return cluster(given)
    if given is None or isinstance(given, (Cluster, AsDeclared)):
        return given
    raise TypeError(f"a cluster is a shorthand, the path of a cluster file or a Cluster, not {type(given).__name__}")
