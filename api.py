"""The verbs as functions: `import placewright as pw`, then `pw.load`, `pw.verify`, `pw.solve`, `pw.launch` and the others."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ContextManager, Mapping, Sequence, Union

from .models.findings.finding import UnusableInput
from .models.level import DEFAULT_LEVEL
from .models.machines.cluster import Cluster
from .models.machines.shorthand import AsDeclared, looks_like_shorthand, read_shorthand
from .models.reading import Reading
from .models.record import dataclass
from .planner.verify import verify as _verify
from .solver.session import Session
from .solver.verify import verify as verify_given

if TYPE_CHECKING:
    from .models.account import Account
    from .models.answer import Answer
    from .models.converted import Converted
    from .models.placements.moves import Moves
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .models.report import Report
    from .planner.answer import Solver
    from .planner.search.found import OnCounting
    from .runtime.launch import Launch
    from .solver.alternatives import Alternatives
    from .solver.explaining.explanation import Explanation
    from .solver.pricing.priced import Pricing
    from .solver.searching.progress import OnProgress


Machines = Union[str, Path, Cluster, AsDeclared, None]
Readable = Union[str, Path, Reading]


def cluster(text: str | Path) -> Cluster | AsDeclared:
    """The machines of a shorthand such as ``2x8xH100`` or of a cluster file.

    Raises ValueError for a shorthand that cannot be read, UnusableInput for a file that cannot.
    """
    if looks_like_shorthand(str(text)):
        return read_shorthand(str(text))
    from .models.machines.cluster_file import read_cluster

    return read_cluster(text)


def load(
    file: Readable,
    cluster: Machines = None,
    dialect: str = "auto",
    *,
    level: str = DEFAULT_LEVEL,
    set: Sequence[str] = (),
    roots: Sequence[str | Path] = (),
    allow_env: Sequence[str] = (),
    framework: str | Sequence[str] = (),
) -> Reading:
    """A configuration, read. What is wrong with it is in its `findings`; nothing is raised for a bad file.

    Parameters
    ----------
    file : a path, or a Reading, which is returned as it is.
    cluster : the machines, as an object, in one word or as the path of a cluster file; None where the file says all.
    dialect : ``auto``, ``native``, ``rlinf``, ``roll`` or ``verl``.
    level : ``training``, or ``placement``, which leaves out the batch arithmetic.
    set : what is changed, as on the command line of Hydra: ``cluster.num_nodes=4``.
    roots : folders to look in for the groups of `defaults`, besides that of the file.
    allow_env : environment variables that interpolations may read; their text is never shown.
    framework : the release that the file is for, such as ``verl==0.6.1``, or several of them. Raises ValueError for an unknown framework.
    """
    if isinstance(file, Reading):
        return file
    from .models.composition import Composer
    from .models.dialects.load import load as read
    from .models.dialects.released import known_framework

    stated = (framework,) if isinstance(framework, str) else tuple(framework)
    composer = Composer(tuple(map(str, roots)), tuple(set), tuple(allow_env), tuple(map(known_framework, stated)))
    return read(file, _machines(cluster), dialect, level, composer)


def verify(file: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> Report:
    """The verdict on a configuration, with every Finding; options are those of `load`. Neither ortools nor ray is loaded."""
    return _verify(load(file, cluster, dialect, **options))


def convert(file: Readable, to: str, cluster: Machines = None, dialect: str = "auto", strict: bool = False, **options: Any) -> Converted:
    """The job of a configuration in the dialect `to`, with everything that was lost on the way, or the reasons why there is none.

    The new text was read again and verified, and every process is where it was. With `strict` a loss is a refusal. Other options
    are those of `load`. Raises ValueError if there is no such dialect.
    """
    from .solver.convert import convert as converted

    return converted(load(file, cluster, dialect, **options), to, strict)


def explain(file_or_code: Readable, cluster: Machines = None, dialect: str = "auto", **options: Any) -> str:
    """Explanation of a configuration, or of a code such as ``PW102``, as text.

    Of a configuration: what it needs, what shares with what, and how its numbers come about; options are those of `load`.
    `explanation` gives the same as an object. Raises ValueError for a code that does not exist.
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
    """Explanation of a configuration: needs, sharing, derivations of its numbers. Options are those of `load`."""
    from .planner.accounting import explain as explained

    def read(machines: Machines) -> Reading:
        return load(file, machines, dialect, **options)

    return explained(read(cluster), read)


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
    with Session(answers=sandbox) as session:
        return question.concealed(solver(limit, seed, sandbox, on_progress, memory, question.reading, session=session)(question.problem))


@dataclass(frozen=True)
class Question:
    """A problem without errors, and the configuration that it was read from, if any: texts of variables stay concealed in answers."""

    problem: Problem
    reading: Reading | None = None

    def concealed(self, answer: Answer) -> Answer:
        """Answer whose findings show no value that `allow_env` keeps secret."""
        if self.reading is None:
            return answer
        return replace(answer, findings=self.reading.document.environment.concealed(answer.findings))


def question_of(
    file: Union[Readable, Problem], cluster: Machines = None, dialect: str = "auto", previous: Union[Plan, str, Path, None] = None,
    lose: Sequence[Union[str, int]] = (), at_most: Mapping[str, int] | None = None, **options: Any,
) -> Question:  # fmt: skip
    """Question for `solve`. Raises UnusableInput for a configuration with errors, and for nodes or terms that do not exist."""
    from .models.problem import Problem

    reading = None
    if isinstance(file, Problem):
        problem = file
    else:
        reading = load(file, cluster, dialect, **options).to_solve
        report = verify_given(reading)
        if report.errors or reading.problem is None:
            raise UnusableInput(report.errors)
        problem = reading.problem
    if at_most:
        from .solver.objectives.tiers import cap_of

        problem = replace(problem, caps=(*problem.caps, *(cap_of(name, str(most)) for name, most in at_most.items())))
    if previous is not None or lose:
        from .solver.pricing.changes import near

        before = read_plan(previous) if isinstance(previous, (str, Path)) else previous
        problem = near(problem, before, [str(node) for node in lose])
    return Question(problem, reading)


def solver(
    limit: float, seed: int, sandbox: bool = True, on_progress: OnProgress | None = None, memory: int = 4096, reading: Reading | None = None,
    counting: OnCounting | None = None, session: Session | None = None,
) -> Solver:  # fmt: skip
    """Solver of problems with the options of `solve`; a plan that the framework refuses in the file that was read is no answer.

    `counting` is told of every better design and bound; `session` is what its searches share with
    others. Raises ValueError for a limit that is no finite number above 0.
    """
    if not 0 < limit < math.inf:
        raise ValueError(f"a limit is a finite number of seconds above 0, not {limit}")
    from .planner.answer import Solver
    from .planner.refusing import refusing
    from .planner.search.found import silent as uncounted
    from .solver.searching.progress import silent

    session = session or Session(answers=sandbox)
    options: dict[str, Any] = {"session": session, "counting": counting or uncounted, "refuses": refusing(reading)}
    if sandbox:
        from .solver.sandbox.solve import solve as in_child

        place = partial(in_child, limit=limit, seed=seed, on_progress=on_progress or silent, memory=memory, session=session)
        return Solver(place, limit, **options)
    from .solver.searching.search import solve as in_process

    place = partial(in_process, limit=limit, seed=seed, on_progress=on_progress or silent, session=session)
    return Solver(place, limit, **options)


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
    answer = solve(replace(reading, opens=False))  # what has ranks is launched on them, also where times would choose others
    if answer.plan is None:
        raise UnusableInput(answer.findings)
    return start(answer.plan, problem=reading.problem, reading=reading, **options)


Askable = Union[Readable, "Problem"]


def whatif(
    file: Askable, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *, drop: Sequence[str] = (),
    nodes: Sequence[str] = (), lose: Sequence[Union[str, int, Sequence[Union[str, int]]]] = (), change: Sequence[str] = (),
    sandbox: bool = True, **options: Any,
) -> Pricing:  # fmt: skip
    """The answer as it is, and with each change: what every demand, machine or setting costs.

    Without any change each demand of the file is dropped in turn. Options are those of `load`; `limit`, `seed` and `sandbox` are those
    of `solve`, for each search. Raises UnusableInput for a configuration with errors, and for changes of what does not exist;
    KeyboardInterrupt at a Ctrl-C.

    Parameters
    ----------
    drop : demands, such as ``actor.memory`` or ``keep replica in rack``, each a change of its own.
    nodes : other machines, such as ``+4x8xH100`` or ``-2``, each a change of its own.
    lose : nodes that are gone, by name or rank, each a change of its own; or several of them as one.
    change : settings, all of them one change, on top of those in `set`: ``components.actor.accelerators=32``. Raises TypeError
        where the configuration is not named by its path.
    """
    from .solver.pricing.changes import dropped, each_dropped, on_other_machines
    from .solver.pricing.price import price

    question = question_of(file, cluster, dialect, **options)
    words = [[str(each)] if isinstance(each, (str, int)) else [str(node) for node in each] for each in lose]
    elsewhere = question.reading.session.elsewhere if question.reading else None
    changes = [*dropped(question.problem, drop), *on_other_machines(question.problem, nodes, words, elsewhere)]
    changed = question
    if change:
        if not isinstance(file, (str, Path)):
            raise TypeError(f"settings change a file that is named by its path, not a {type(file).__name__}")
        settings = [*options.pop("set", ()), *change]
        changed = question_of(file, cluster, dialect, set=settings, **options)
        changes.append((" ".join(f"--set {setting}" for setting in change), changed.problem))

    with Session(answers=False) as session:

        def solve(problem: Problem) -> Answer:
            asked = changed if problem is changed.problem else question
            return asked.concealed(solver(limit, seed, sandbox, reading=asked.reading, session=session)(problem))

        return price(question.problem, changes or each_dropped(question.problem), solve)


def replan(
    file: Askable, previous: Union[Plan, str, Path], lose: Sequence[Union[str, int]] = (), cluster: Machines = None, dialect: str = "auto",
    limit: float = 10.0, seed: int = 1, *, trade: bool = False, sandbox: bool = True, **options: Any,
) -> tuple[Answer, Moves | None]:  # fmt: skip
    """The answer that moves the fewest groups of a plan, of those the best; and what moved, if there is an answer.

    Time comes first where components say theirs: counts are chosen by it, and places too where traffic counts as time.

    Parameters
    ----------
    previous : the plan that runs now, or its file; nodes are matched by their names.
    lose : nodes that are gone, by name or by rank.
    trade : also say what the next cheaper answer would cost in moves.

    Other options are those of `solve` and `load`. Raises UnusableInput as `solve` does.
    """
    from .planner.placing.placing import chosen, decided
    from .solver.replanning.replan import moves, with_trade

    before = read_plan(previous) if isinstance(previous, (str, Path)) else previous
    question = question_of(file, cluster, dialect, before, lose, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        answer = question.concealed(search(question.problem))
        if answer.plan is None:
            return answer, None
        found = moves(chosen(question.problem, answer), before, answer.plan)
        return answer, with_trade(decided(question.problem, answer), found, answer.plan, search) if trade else found


def alternatives(
    file: Askable, count: int = 3, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *,
    sandbox: bool = True, **options: Any,
) -> Alternatives:  # fmt: skip
    """Up to `count` placements of different structure, the best first, each with the term of the objective by which it loses.

    Where counts were chosen by time they stay what they are; other counts are in `Answer.planned`.

    Options are those of `solve` and `load`. Raises UnusableInput as `solve` does, and with the findings of an answer without a plan.
    """
    from .models.findings.finding import UnusableInput
    from .planner.placing.placing import decided
    from .solver.alternatives import alternatives as found

    question = question_of(file, cluster, dialect, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        best = question.concealed(search(question.problem))
        if best.plan is None:
            raise UnusableInput(best.findings)
        return found(decided(question.problem, best), best.plan, count, search, session)


def account(
    file: Askable, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *, answer: Answer | None = None,
    searches: int = 200, sandbox: bool = True, **options: Any,
) -> Account:  # fmt: skip
    """The account of a plan whose counts are chosen by time: where the time goes, who waits, memory, other arrangements, the file's own.

    Where all ranks are given it is that of these ranks, beside what could be had without them.

    Parameters
    ----------
    answer : that of `solve` for the same file, if it was solved already.
    searches : how many further ones may say what becomes of the plan where a hint is wrong.

    Other options are those of `solve` and `load`. Raises UnusableInput as `solve` does, and with the findings of an answer without a
    plan; ValueError where no component says its `seconds`, or not of the ranks that are given.
    """
    from .models.findings.finding import UnusableInput
    from .planner.accounting import account as found
    from .planner.accounting import given

    question = question_of(file, cluster, dialect, **options)
    with Session(answers=sandbox) as session:
        search = solver(limit, seed, sandbox, reading=question.reading, session=session)
        answer = answer or question.concealed(search(question.problem))
        if answer.plan is None:
            raise UnusableInput(answer.findings)
        if answer.planned is None:
            its = given(question.problem, limit, search, session)
        else:
            its = found(question.problem, answer.planned, searches, limit, search, answer.plan.assignment, session)
    if its is None:
        raise ValueError("no time of an iteration is known: components say no `seconds`, or not of these ranks")
    return its


def discover(
    address: str | None = None, *, slurm: bool = False, nvidia_smi: Sequence[str | Path] = (), topo: Sequence[str | Path] = ()
) -> Cluster:
    """The machines that there are: of the Ray cluster at HOST:PORT, of this Slurm job, or of files with what nvidia-smi printed.

    Raises ValueError unless it is one of these (`nvidia_smi` may tell more of a Slurm job), UnusableInput for texts that cannot be
    read, LaunchFailed where no Ray cluster answers or its nodes contradict each other.

    Parameters
    ----------
    nvidia_smi : files with the output of ``nvidia-smi -L``.
    topo : files with that of ``nvidia-smi topo -m``, one for each machine or one for all.
    """
    from .runtime.discovering.discover import at_address, from_files

    if (address is not None) + (slurm or bool(nvidia_smi)) != 1:
        raise ValueError("name what is to be discovered: an address, Slurm's job, or files with what nvidia-smi printed")
    return (from_files(slurm, nvidia_smi, topo) if address is None else at_address(address)).cluster
