"""More of the front door: what a change costs, what must move, what else could have been; and which machines there are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence, Union

from .front import Machines, Readable, read_plan
from .solving import question_of, searching

if TYPE_CHECKING:
    from .models.account import Account
    from .models.answer import Answer
    from .models.machines.cluster import Cluster
    from .models.placements.moves import Moves
    from .models.placements.plan import Plan
    from .models.problem import Problem
    from .solver.alternatives.top import Alternatives
    from .solver.pricing.priced import Pricing

Askable = Union[Readable, "Problem"]


def whatif(
    file: Askable, cluster: Machines = None, dialect: str = "auto", limit: float = 10.0, seed: int = 1, *, drop: Sequence[str] = (),
    nodes: Sequence[str] = (), lose: Sequence[Union[str, int, Sequence[Union[str, int]]]] = (), change: Sequence[str] = (),
    sandbox: bool = True, **options: Any,
) -> Pricing:  # fmt: skip
    """The answer as it is, and with each change: what every demand, machine or setting costs.

    Without any change each demand of the file is dropped in turn. Options are those of `load`; `limit`, `seed` and `sandbox` are those
    of `solve`, for each search. Raises UnusableInput for a configuration with errors, and for changes of what does not exist.

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
    from .solver.sandbox.keeping import kept

    question = question_of(file, cluster, dialect, **options)
    words = [[str(each)] if isinstance(each, (str, int)) else [str(node) for node in each] for each in lose]
    taken_on = question.reading.taken_on if question.reading else None
    changes = [*dropped(question.problem, drop), *on_other_machines(question.problem, nodes, words, taken_on)]
    changed = question
    if change:
        if not isinstance(file, (str, Path)):
            raise TypeError(f"settings change a file that is named by its path, not a {type(file).__name__}")
        settings = [*options.pop("set", ()), *change]
        changed = question_of(file, cluster, dialect, set=settings, **options)
        changes.append((" ".join(f"--set {setting}" for setting in change), changed.problem))

    def solve(problem: Problem) -> Answer:
        asked = changed if problem is changed.problem else question
        return asked.told(searching(limit, seed, sandbox, reading=asked.reading)(problem))

    with kept():
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
    from .solver.replanning.replan import moves
    from .solver.replanning.trade import with_trade

    before = read_plan(previous) if isinstance(previous, (str, Path)) else previous
    question = question_of(file, cluster, dialect, before, lose, **options)
    search = searching(limit, seed, sandbox, reading=question.reading)
    answer = question.told(search(question.problem))
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
    from .solver.alternatives.top import alternatives as found
    from .solver.sandbox.keeping import kept

    question = question_of(file, cluster, dialect, **options)
    search = searching(limit, seed, sandbox, reading=question.reading)
    with kept():
        best = question.told(search(question.problem))
        if best.plan is None:
            raise UnusableInput(best.findings)
        return found(decided(question.problem, best), best.plan, count, search)


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
    search = searching(limit, seed, sandbox, reading=question.reading)
    told = answer or question.told(search(question.problem))
    if told.plan is None:
        raise UnusableInput(told.findings)
    if told.planned is None:
        its = given(question.problem, limit, seed, search)
    else:
        its = found(question.problem, told.planned, seed, searches, limit, search, told.plan.assignment)
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
