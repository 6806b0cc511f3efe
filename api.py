"""Verbs as functions: `import placewright as pw`, then `pw.load`, `pw.verify`, `pw.solve` and so on."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ContextManager, Mapping, Sequence, Union

from .loading import RENAMED, Machines, Readable, load, load_every, text_of
from .models.dialects.released import known_framework
from .models.findings.finding import UnusableInput
from .models.level import DEFAULT_LEVEL
from .models.machines.cluster import Cluster
from .models.reading import Reading
from .models.record import dataclass
from .planner.verify import verify as _verify
from .report.display import add_to_classes
from .solver.session import Session
from .solver.verify import verify as verify_given

if TYPE_CHECKING:
    from .models.account import Account
    from .models.answer import Answer
    from .models.placements.moves import Moves
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .models.report import Converted, Report
    from .planner.answer import Solver
    from .planner.search.found import OnCounting
    from .runtime.recovery.lifetime import Launch
    from .solver.alternatives import Alternatives
    from .solver.explaining.explain import Explanation
    from .solver.pricing.result import Pricing
    from .solver.searching.progress import OnProgress


def verify(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Report:
    """Verify a configuration and return all findings, without loading ortools or ray.

    Of a script that starts several programs, the report is that of the first with the worst verdict.
    Options are those of `load`.
    """
    from .models.report import VERDICTS

    reports = map(_verify, load_every(file, cluster, dialect, **options))
    return max(reports, key=lambda report: VERDICTS.index(report.verdict))


def convert(file: Readable, to: str, cluster: Machines = None, dialect: str = "auto", strict: bool = False, **options: Any) -> Converted:
    """Convert a configuration to the dialect `to`, with losses or reasons of refusal.

    The new text was read again and verified, and every process is where it was. With `strict` a
    loss is a refusal. Other options are those of `load`. Raises ValueError for an unknown dialect.
    """
    from .solver.convert import convert as converted

    framework = options.get("framework", ())
    frameworks = (framework,) if isinstance(framework, str) else tuple(framework)
    return converted(load(file, cluster, dialect, **options), to, strict, tuple(map(known_framework, frameworks)))


def explain(file_or_code: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> str:
    """Explain a configuration, or a code like ``PW102``, as text.

    Of a configuration: its needs, the sharing of accelerators, and the derivation of its numbers;
    options are those of `load`. `explanation` gives the same as an object. Raises ValueError for an unknown code.
    """
    from .report.page import means_code, read_page

    if isinstance(file_or_code, str) and means_code(file_or_code):
        from .report.explain import render
        from .solver.advice import ADVICE
        from .solver.rules import RULES

        return render(read_page(file_or_code, (*RULES, *ADVICE)))
    from .report.explanation.text import render as to_text

    return to_text(explanation(file_or_code, cluster, dialect, **options), level=options.get("level", DEFAULT_LEVEL))


def explanation(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Explanation:
    """Explain a configuration as an object: needs, sharing, derivations of its numbers.

    Options are those of `load`.
    """
    from .planner.accounting import explain as explained

    def read(machines: Machines) -> Reading:
        return load(file, machines, dialect, **options)

    return explained(read(cluster), read)


def read_plan(path: str | Path) -> Plan:
    """Read a plan file. Raises UnusableInput."""
    from .models.placements.plan_file import read_plan as read

    return read(path)


def write_plan(plan: Plan, path: str | Path) -> None:
    """Write a plan to a file, whole or not at all. Raises OSError."""
    from .models.placements.plan_file import plan_to_json
    from .models.text.files import write_whole

    write_whole(path, plan_to_json(plan))


add_to_classes()
_LOADING = ("dialect", "level", "settings", "config_roots", "allow_env", "framework", "model_config", *RENAMED)


def solve(
    file: Union[Readable, Problem], cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *,
    previous: Union[Plan, str, Path, None] = None, lose: Sequence[Union[str, int]] = (), at_most: Mapping[str, int] | None = None,
    sandbox: bool = True, on_progress: OnProgress | None = None, memory: int = 4096, **options: Any,
) -> Answer:  # fmt: skip
    """Search a verified Plan for all open choices, or a reason of infeasibility.

    Other options are those of `load`. Raises UnusableInput, with every Finding, for a configuration
    with errors, and for unknown nodes or terms.

    Parameters
    ----------
    limit : limit of the search, in deterministic time (about seconds).
    seed : equal configuration and seed give equal plans.
    previous : the running plan, or its file: as few groups as possible move from it.
        `placewright.replan` also names them.
    lose : lost nodes, by name or by rank.
    at_most : upper bounds of objective terms, by their printed names.
    sandbox : search in a separate process, which is stopped if it exceeds a limit, and on Ctrl-C; the answer is then
        the best verified so far. Without it the search runs in this process, and a fault of the solver ends that;
        Ctrl-C raises KeyboardInterrupt.
    on_progress : called with every better answer and bound
        (`placewright.solver.searching.progress.Incumbents`).
    memory : memory limit of the separate process, in MiB.
    """
    question = question_of(file, cluster, dialect, previous, lose, at_most, **options)
    with Session(answers=sandbox) as session:
        return question.conceal(solver(limit, seed, sandbox, on_progress, memory, question.reading, session=session)(question.problem))


@dataclass(frozen=True)
class Question:
    """Problem without errors, and the configuration it was read from, if any.

    Secret values of variables stay concealed in answers.
    """

    problem: Problem
    reading: Reading | None = None

    def conceal(self, answer: Answer) -> Answer:
        """Return the answer without the values of `allow_env` in its findings."""
        if self.reading is None:
            return answer
        return replace(answer, findings=self.reading.document.environment.conceal(answer.findings))


def question_of(
    file: Union[Readable, Problem], cluster: Machines = None, dialect: str = "auto", previous: Union[Plan, str, Path, None] = None,
    lose: Sequence[Union[str, int]] = (), at_most: Mapping[str, int] | None = None, **options: Any,
) -> Question:  # fmt: skip
    """Build the question of `solve`.

    Raises UnusableInput for a configuration with errors, and for unknown nodes or terms.
    """
    from .models.problem import Problem

    reading = None
    if isinstance(file, Problem):
        problem = file
    else:
        reading = load(file, cluster, dialect, **options).to_solve
        report = verify_given(reading)
        if report.errors or reading.problem is None:
            raise UnusableInput(report.reasons)
        problem = reading.problem
    if at_most:
        from .solver.objectives.tiers import cap_of

        problem = replace(problem, caps=(*problem.caps, *(cap_of(name, str(most)) for name, most in at_most.items())))
    if previous is not None or lose:
        from .solver.pricing.changes import stay_near_plan

        old_plan = read_plan(previous) if isinstance(previous, (str, Path)) else previous
        problem = stay_near_plan(problem, old_plan, [str(node) for node in lose], reading)
    return Question(problem, reading)


def solver(
    limit: float, seed: int, sandbox: bool = True, on_progress: OnProgress | None = None, memory: int = 4096, reading: Reading | None = None,
    counting: OnCounting | None = None, session: Session | None = None,
) -> Solver:  # fmt: skip
    """Build a solver with the options of `solve`, which excludes plans that the framework refuses.

    `counting` is called with every better design and bound; `session` is shared with other
    searches. Raises ValueError for a limit that is not finite and positive.
    """
    if not 0 < limit < math.inf:
        raise ValueError(f"a limit is a finite number of seconds above 0, not {limit}")
    from .planner.answer import Solver
    from .planner.write_back import refusing
    from .solver.searching.progress import silent

    options: dict[str, Any] = {"limit": limit, "seed": seed, "session": session or Session(answers=sandbox)}
    if sandbox:
        from .solver.sandbox.solve import solve as in_child

        place = partial(in_child, **options, on_progress=on_progress or silent, memory=memory)
    else:
        from .solver.searching.search import solve as in_process

        place = partial(in_process, **options, on_progress=on_progress or silent)
    elsewhere = reading.session.elsewhere if reading else None
    return Solver(place, limit, options["session"], counting, refusing(reading), elsewhere, reading.judge if reading else None)


def launch(plan: Union[Plan, Readable], cluster: Machines = None, **options: Any) -> ContextManager[Launch]:
    """Launch a plan, or solve a configuration and launch it: a context manager of the workers.

    The workers run exactly where the plan says, and nothing is left afterwards. Options are those
    of `load`, and of `placewright.runtime.launch.launch`: `address`, `simulate`, `worker`,
    `timeout`, `trusted_env`, `share_nodes`; with `restarts` a configuration is placed anew, by its
    own demands, when nodes are lost.
    """
    from .models.placements.plan import Plan
    from .runtime.launch import launch as start

    if isinstance(plan, Plan):
        return start(plan, **options)
    reading = load(plan, cluster, **{name: options.pop(name) for name in _LOADING if name in options}).to_launch
    answer = solve(replace(reading, opens=False))  # given ranks are launched as they are, even if times would choose others
    if answer.plan is None:
        raise UnusableInput(answer.findings)
    return start(answer.plan, problem=reading.problem, reading=reading, **options)


Askable = Union[Readable, "Problem"]


def whatif(
    file: Askable, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *, drop: Sequence[str] = (),
    nodes: Sequence[str] = (), lose: Sequence[Union[str, int, Sequence[Union[str, int]]]] = (), change: Sequence[str] = (),
    sandbox: bool = True, **options: Any,
) -> Pricing:  # fmt: skip
    """Compare the answer with that after each change: the price of a demand, machine or setting.

    Without any change each demand of the file is dropped in turn. Options are those of `load`;
    `limit`, `seed` and `sandbox` are those of `solve`, for each search. Raises UnusableInput for a
    configuration with errors, and for changes of unknown things; KeyboardInterrupt on Ctrl-C.

    Parameters
    ----------
    drop : demands, such as ``actor.memory`` or ``keep replica in rack``, each a separate change.
    nodes : other machines, such as ``+4x8xH100`` or ``-2``, each a separate change.
    lose : lost nodes, by name or rank, each a separate change; or several of them as one change.
    change : settings, all of them one change, on top of `settings`:
        ``components.actor.accelerators=32``. Raises
        TypeError unless the configuration is named by its path.
    """
    from .solver.pricing.changes import drop_demands, vary_machines, without_each
    from .solver.pricing.price import price

    question = question_of(file, cluster, dialect, **options)
    words = [[str(loss)] if isinstance(loss, (str, int)) else [str(node) for node in loss] for loss in lose]
    changes = [*drop_demands(question.problem, drop), *vary_machines(question.problem, nodes, words, question.reading)]
    variant = question
    if change:
        if not isinstance(file, (str, Path)) or text_of(file) is not None:
            raise TypeError(f"settings change a file that is named by its path, not a {type(file).__name__}")
        settings = [*options.pop("settings", options.pop("set", ())), *change]
        variant = question_of(file, cluster, dialect, settings=settings, **options)
        changes.append((" ".join(f"--set {setting}" for setting in change), variant.problem))

    with Session(answers=False) as session:

        def solve(problem: Problem) -> Answer:
            question_asked = variant if problem is variant.problem else question
            return question_asked.conceal(solver(limit, seed, sandbox, reading=question_asked.reading, session=session)(problem))

        return price(question.problem, changes or without_each(question.problem), solve)


def replan(
    file: Askable, previous: Union[Plan, str, Path], lose: Sequence[Union[str, int]] = (), cluster: Machines = None, dialect: str = "auto",
    limit: float = 10.0, seed: int = 1, *, trade: bool = False, sandbox: bool = True, **options: Any,
) -> tuple[Answer, Moves | None]:  # fmt: skip
    """Search the answer with the fewest moves from a plan; return it and the moves.

    Among equal numbers of moves the best answer counts. Time comes first if components state times:
    counts are chosen by time, and places too if traffic counts as time. The moves are None without an answer.

    Parameters
    ----------
    previous : the running plan, or its file; nodes are matched by name.
    lose : lost nodes, by name or by rank.
    trade : also price the next cheaper answer in moves.

    Other options are those of `solve` and `load`. Raises UnusableInput as `solve` does.
    """
    from .planner.placing import choose, decide
    from .solver.replanning import moves, with_trade

    old_plan = read_plan(previous) if isinstance(previous, (str, Path)) else previous
    question = question_of(file, cluster, dialect, old_plan, lose, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        answer = question.conceal(search(question.problem))
        if answer.plan is None:
            return answer, None
        changes = moves(choose(question.problem, answer), old_plan, answer.plan)
        return answer, with_trade(decide(question.problem, answer), changes, answer.plan, search) if trade else changes


def alternatives(
    file: Askable, count: int = 3, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *,
    sandbox: bool = True, **options: Any,
) -> Alternatives:  # fmt: skip
    """Return up to `count` placements of different structure, best first.

    Every placement comes with the objective term by which it loses.

    Counts chosen by time stay fixed; other counts are in `Answer.planned`. Options are those of
    `solve` and `load`. Raises UnusableInput as `solve` does, and with the findings of an answer without a plan.
    """
    from .planner.placing import decide
    from .solver.alternatives import alternatives as found

    question = question_of(file, cluster, dialect, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        best = question.conceal(search(question.problem))
        if best.plan is None:
            raise UnusableInput(best.findings)
        return found(decide(question.problem, best), best.plan, count, search, session)


def account(
    file: Askable, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *, answer: Answer | None = None,
    searches: int = 200, sandbox: bool = True, **options: Any,
) -> Account:  # fmt: skip
    """Return the time account of a plan: times, waits, memory, alternatives, baseline.

    For plans whose counts are chosen by time. The baseline is the file's own plan. If all ranks are
    given, the account is that of these ranks, with the optimum as comparison.

    Parameters
    ----------
    answer : answer of `solve` for the same file, if known.
    searches : maximal number of further searches for the sensitivity to wrong hints.

    Other options are those of `solve` and `load`. Raises UnusableInput as `solve` does, and with
    the findings of an answer without a plan; ValueError if no component states `seconds`, or not for the given ranks.
    """
    from .planner.accounting import account as found
    from .planner.accounting import account_of_given_ranks
    from .report.display import add_to_accounts

    add_to_accounts()

    question = question_of(file, cluster, dialect, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        answer = question.conceal(search(question.problem)) if answer is None else answer
        if answer.plan is None:
            raise UnusableInput(answer.findings)
        if answer.planned is None:
            result = account_of_given_ranks(question.problem, search)
        else:
            result = found(question.problem, answer.planned, searches, limit, search, answer.plan.assignment, session)
    if result is None:
        why = "components say no `seconds`, or not of these ranks; ranks on several kinds need `scope: [heterogeneous]`"
        raise ValueError(f"no time of an iteration is known: {why}")
    return result


def discover(
    address: str | None = None, *, slurm: bool = False, nvidia_smi: Sequence[str | Path] = (), topo: Sequence[str | Path] = ()
) -> Cluster:
    """Discover the machines of a Ray cluster, a Slurm job, or nvidia-smi output.

    `address`: HOST:PORT of the Ray cluster; `slurm`: True for this process's Slurm job. Raises
    ValueError unless exactly one source is named (`nvidia_smi` may add details of a Slurm job),
    UnusableInput for unreadable texts, LaunchFailed if no Ray cluster answers or its nodes contradict each other.

    Parameters
    ----------
    nvidia_smi : files with the output of ``nvidia-smi -L``.
    topo : files with that of ``nvidia-smi topo -m``, a file per machine or one for all.
    """
    from .runtime.discover import at_address, from_files

    if (address is not None) + (slurm or bool(nvidia_smi)) != 1:
        raise ValueError("name what is to be discovered: an address, Slurm's job, or files with what nvidia-smi printed")
    return (from_files(slurm, nvidia_smi, topo) if address is None else at_address(address)).cluster
