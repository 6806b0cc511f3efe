"""Everything that there is to say of a plan whose counts were chosen by time."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Mapping, Sequence

from .memory.bill import BlockBill
from .planning.design import Design
from .planning.planned import Planned, Priced
from .planning.problem import PlanningProblem, Task
from .planning.workload import SECONDS
from .record import dataclass

if TYPE_CHECKING:
    from .problem import Problem

MEASURED, BETWEEN, BEYOND, FORMULA = "measured", "interpolated", "extrapolated", "formula"
FAR = 4
"""Beyond so many times the nearest measured count a time is little more than a guess: reference of RLinf's users, issue #59."""
HUNDRED = 100
SLOWER, QUICKER = (110, 125, 150, 200), (90, 75, 50)
"""Percent of a component's times, in the order in which they are tried."""
KEEP = 5
"""Percent over the best up to which a placement that stands is worth keeping: measured times differ as much from run to run."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Measurements that one time rests on.

    Attributes
    ----------
    kind : `measured`, `interpolated`, `extrapolated`, or a `formula` of what was measured.
    counts : the measured counts that it follows from.
    scaling : how it follows from them: `power` or `linear`; for a formula its name.
    any_degrees : which of the degrees among which was chosen it is taken for the same with, such as `ep`; `degrees` for all, "" for none.
    any_model : is it taken for the same on several models of accelerators among which was chosen?
    slowest : the model whose time it is, of `several` that it is on at once, each rank with the same share; the first if they are `alike`.
    as_written : are its degrees those of a file that has ranks already? Of degrees that are as good, these are taken.
    named : what each count was measured with, such as ``tp 1`` or ``any degrees``; () where all name the same.
    rising : was the larger of the two counts that it follows from measured to take longer, so that fewer are taken to be quicker?
    """

    task: Task
    amount: int
    nanoseconds: int
    kind: str
    counts: tuple[int, ...]
    scaling: str = ""
    any_degrees: str = ""
    any_model: bool = False
    slowest: str = ""
    several: tuple[str, ...] = ()
    as_written: bool = field(default=False, compare=False)
    alike: bool = field(default=False, compare=False)
    rising: bool = field(default=False, compare=False)
    named: tuple[str, ...] = ()

    @property
    def beyond(self) -> float:
        """How many times farther out than the nearest measured count it is; 1 for what is not extrapolated."""
        if self.kind != BEYOND:
            return 1.0
        return min(max(count, self.amount) / min(count, self.amount) for count in self.counts)


def models_of(questions: Sequence[PlanningProblem], design: Design) -> Mapping[str, tuple[str, ...]]:
    """Component -> its models, by the questions that a design is of, where these agree."""
    its = [each for each in questions if all(option in each.options[name] for name, option in design.options.items())]
    names = dict.fromkeys(name for each in its for name in each.scope.on_models)
    found = {name: {each.scope.on_models.get(name, ()) for each in its} for name in names}
    return {name: models.pop() for name, models in found.items() if len(models) == 1}


@dataclass(frozen=True, slots=True)
class Turn:
    """A task in its part of the iteration; all in ns, counted from the beginning of that part.

    Attributes
    ----------
    works : how long it works.
    begins, ends : from its first batch to its last; None where the cost model does not say when.
    """

    task: int
    works: int
    begins: int | None = None
    ends: int | None = None

    @property
    def starves(self) -> int:
        """How long it waits for batches between its first and its last."""
        return 0 if self.begins is None or self.ends is None else self.ends - self.begins - self.works


@dataclass(frozen=True, slots=True)
class Usage:
    """One place in one part of the iteration: how long the part takes, and what works there in it.

    Attributes
    ----------
    block : the accelerators of a block; None for the robots or processes of a component that needs no accelerators.
    components : who is there.
    untimed : those of them of which nobody says how long they work.
    """

    block: int | None
    components: tuple[str, ...]
    segment: int
    nanoseconds: int
    turns: tuple[Turn, ...]
    untimed: tuple[str, ...] = ()

    @property
    def works(self) -> int:
        """How long something works there, as far as its time is known."""
        return sum(turn.works for turn in self.turns)

    @property
    def idle(self) -> int:
        """How long nothing does whose time is known."""
        return self.nanoseconds - self.works

    @property
    def known(self) -> bool:
        """Has anybody there a time?"""
        return len(self.untimed) < len(self.components)


def by_place(usages: Sequence[Usage]) -> list[list[Usage]]:
    """The parts of the iteration of each place, in order."""
    found: dict[tuple[int | None, tuple[str, ...]], list[Usage]] = {}
    for usage in usages:
        found.setdefault((usage.block, usage.components), []).append(usage)
    return list(found.values())


def busy(place: Sequence[Usage]) -> tuple[int, int]:
    """(how long something works there in an iteration, how long that takes), in ns."""
    return sum(usage.works for usage in place), sum(usage.nanoseconds for usage in place)


@dataclass(frozen=True)
class Own:
    """The placement that the file itself states, of the components that are planned.

    Attributes
    ----------
    priced : its design, run in the best parts that it allows; None where it has no price.
    problem, question : what was asked; where ranks are on several kinds of accelerators, with these given, and on kinds of their own.
    why_not : why it has none; "" if it has one.
    forbidden : what the demands of the file refuse of it, each a sentence.
    unclear : all that is against it is that the plan was not chosen among its counts: no demand and no rule says that it may not be so.
    over_estimates : of which accelerators it needs more by estimates of memory, each a sentence; that forbids nothing. It is not kept where
        a plan fits by all of them.
    bases : what its times rest on.
    counts : where ranks are on several kinds: of each component on accelerators, how many of each model it holds.
    """

    priced: Priced | None
    problem: Problem
    question: PlanningProblem
    why_not: str = ""
    forbidden: tuple[str, ...] = ()
    unclear: bool = False
    over_estimates: tuple[str, ...] = ()
    bases: tuple[Basis, ...] = ()
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def on_several_kinds(self) -> bool:
        """True if the ranks are on kinds of accelerators that no plan of the problem uses at once."""
        return bool(self.counts)

    def may_stay(self, question: PlanningProblem) -> bool:
        """May it stay beside the plan of a question? Nothing forbids it, and it fits by the estimates if that plan does."""
        return not self.forbidden and not (self.over_estimates and question.heeds_estimates)

    def over(self, best: Priced) -> float | None:
        """By which part it takes longer than another design, such as 0.04; None without a price."""
        if self.priced is None:
            return None
        takes = best.nanoseconds + best.traffic
        return (self.priced.nanoseconds + self.priced.traffic - takes) / takes


@dataclass(frozen=True)
class WithoutRanks:
    """The plan without the ranks of these components, which have times too and could be planned as all others."""

    names: tuple[str, ...]
    planned: Planned


@dataclass(frozen=True, slots=True)
class Flip:
    """The nearest factor of one component at which the plan is not the best any more.

    Attributes
    ----------
    component : the component with other times.
    holds : percent of its times up to which the plan holds at every factor; 100: at none.
    flips : percent of its times at which another plan is better, or the plan breaks its budget.
    takes : ns of an iteration of the plan at `flips`.
    to : the best known design at `flips`; None if none is known that keeps to the budget.
    placed : True if `to` is known to have a placement with this price.
    question : the question that `to` is a design of, with the original times.
    """

    component: str
    holds: int
    flips: int
    takes: int
    to: Priced | None = None
    placed: bool = True
    question: PlanningProblem | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Changes of the plan where the times of one component are wrong; at factors in neither field it holds.

    Attributes
    ----------
    flips : at most two of a component, one where it is slower and one where it is quicker.
    left : (component, percent) of the first factor that was not decided; those beyond are unknown.
    searches : number of searches.
    """

    flips: tuple[Flip, ...] = ()
    left: tuple[tuple[str, int], ...] = ()
    searches: int = 0


@dataclass(frozen=True)
class Other:
    """Another design, and what each task adds to its iteration more (or less) than to that of the plan, in ns, the most first."""

    priced: Priced
    adds: tuple[tuple[Task, int], ...]


@dataclass(frozen=True)
class Account:
    """The account of a plan.

    Attributes
    ----------
    shares : for each task the ns that it adds to an iteration.
    usages : what works where in each part of the iteration; none where the cost model's units are not those of a clock.
    bills : the memory of each block, then that of accelerators whose components have given ranks and are not planned.
    bases : what the time of each task rests on.
    others : the best designs of other structures, and what makes them slower.
    further : the same of plans on fewer accelerators, and with other degrees, where there are few others.
    own : the file's own placement under the same cost model; None where it has none.
    sensitivity : what becomes of the plan where a hint is wrong; None where that was not asked.
    resources : of each component that needs no accelerators the kind of what it needs, such as that of its robots.
    without_ranks : the plan without ranks that the file fixes for some of what has times; None where it fixes none, or that was not asked.
    assumed : sentences on what is taken for granted of how an iteration goes, besides its times.
    given : are the ranks those of the file, beside which the others were found?
    """

    planned: Planned
    source: str
    shares: Mapping[Task, int]
    usages: tuple[Usage, ...]
    bills: tuple[BlockBill, ...]
    bases: tuple[Basis, ...]
    others: tuple[Other, ...]
    further: tuple[Other, ...] = ()
    own: Own | None = None
    sensitivity: Sensitivity | None = None
    resources: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    given: bool = False
    without_ranks: WithoutRanks | None = None

    @property
    def keeps(self) -> bool:
        """True if the file's own placement may stay: allowed, no more accelerators, and near the best."""
        planned, own = self.planned, self.own
        if own is not None and not own.may_stay(planned.question):
            return False
        if self.given:
            value = _total(planned.best) if planned.question.aim == SECONDS else planned.best.accelerators(planned.question)
            return planned.bound > 0 and (value - planned.bound) * 100 <= planned.bound * KEEP
        if own is None or own.priced is None:
            return False
        if planned.is_own:
            return True
        over = _total(own.priced) - _total(planned.best)
        more = own.priced.accelerators(planned.question) - planned.best.accelerators(planned.question)
        if planned.question.aim != SECONDS and more:
            return more < 0
        near = over > 0 or own.on_several_kinds  # where it takes as long, its placement was not compared on several kinds
        return over < 0 or (near and more <= 0 and over * 100 <= _total(planned.best) * KEEP)


def _total(priced: Priced) -> int:
    return priced.nanoseconds + priced.traffic
