"""Account of a plan whose counts were chosen by time, with its memory bills."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Mapping, Sequence

from .memory.terms import MemoryTerm
from .planning.design import Block, Design
from .planning.planned import CostedDesign, PlanningResult
from .planning.problem import PlanningProblem, Task
from .planning.workload import SECONDS
from .record import dataclass

if TYPE_CHECKING:
    from .problem import Problem

WORKS, KEPT, RESIDENT = "works", "kept", "resident"
"""States: working, keeping some memory while waiting, or holding all memory always."""
DECLARED, ESTIMATED, SILENT = "declared", "estimated", "not known"
"""Origins of an amount: the file, an estimate, or unknown (counted as 0)."""


@dataclass(frozen=True, slots=True)
class ComponentMemory:
    """Memory of a component per accelerator in a segment; `high` of an estimate."""

    component: str
    mebibytes: int
    state: str
    origin: str
    terms: tuple[MemoryTerm, ...] = ()
    high: int = 0

    @property
    def demanded(self) -> int:
        """MiB to reserve: the high of an estimate."""
        return self.high if self.origin == ESTIMATED else self.mebibytes


@dataclass(frozen=True, slots=True)
class SegmentMemory:
    """Memory in a segment of the iteration, in the turn with the highest need.

    Segments 0, 1, ... run one after the other. `segment` is None for a turn of components without
    times: only its `phase` is known.
    """

    segment: int | None
    entries: tuple[ComponentMemory, ...]
    phase: str = ""

    @property
    def mebibytes(self) -> int:
        """MiB needed per accelerator."""
        return sum(entry.mebibytes for entry in self.entries)

    @property
    def demanded(self) -> int:
        """MiB needed per accelerator, with the highs of estimates."""
        return sum(entry.demanded for entry in self.entries)


@dataclass(frozen=True, slots=True)
class BlockBill:
    """Memory bill of a block of a design, per accelerator.

    `capacity` is None if unknown. `models`: models of the accelerators as placed, if their kind
    does not name them.
    """

    block: Block
    capacity: int | None
    moments: tuple[SegmentMemory, ...]
    models: tuple[str, ...] = ()

    @property
    def peak(self) -> SegmentMemory:
        """First segment with the highest need."""
        return max(self.moments, key=lambda moment: moment.mebibytes)

    @property
    def tight(self) -> bool:
        """True if the highs of the estimates exceed the capacity."""
        return self.capacity is not None and max(moment.demanded for moment in self.moments) > self.capacity


FITTED = "fitted"
"""Kind of an estimated time with a factor from measurements."""
MEASURED, BETWEEN, BEYOND, FORMULA = "measured", "interpolated", "extrapolated", "formula"
FAR = 4
"""Extrapolation factor of unreliable times. Source: reference of RLinf's users, issue #59."""
HUNDRED = 100
SLOWER, QUICKER = (110, 125, 150, 200), (90, 75, 50)
"""Percent of a component's times, in the order of the trials."""
KEEP = 5
"""Percent over the best design up to which the file's own placement is kept."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Measurements behind a task time.

    Attributes
    ----------
    kind : `measured`, `interpolated`, `extrapolated`, or `formula` (computed from measurements).
    scaling : `power` or `linear`; for a formula, its name.
    any_degrees : degree, such as `ep`, that is assumed not to change the time; `degrees` for all of
        them, "" for none.
    any_model : True if the time is assumed equal on several candidate accelerator models.
    slowest : model that decides the time if the component runs on `several` at once with equal
        shares; the first model if they are `alike`.
    as_written : True if the degrees are those of a file that already has ranks. They win ties.
    named : what each count was measured with, such as ``tp 1`` or ``any degrees``; () if all
        measurements name the same.
    bounds : low and high ns of an estimated time; () of all others.
    rising : True if the larger of the two measured counts took longer, so fewer accelerators are
        assumed quicker.
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
    bounds: tuple[int, ...] = ()

    @property
    def range(self) -> tuple[int, int]:
        """Low and high of an estimated time in percent; (100, 100) of others."""
        low, high = self.bounds or (self.nanoseconds, self.nanoseconds)
        return low * HUNDRED // self.nanoseconds, -(-high * HUNDRED // self.nanoseconds)

    @property
    def beyond(self) -> float:
        """Extrapolation factor from the nearest measured count; 1 if not extrapolated."""
        if self.kind != BEYOND:
            return 1.0
        return min(max(count, self.amount) / min(count, self.amount) for count in self.counts)


def models_of(questions: Sequence[PlanningProblem], design: Design) -> Mapping[str, tuple[str, ...]]:
    """Return component -> accelerator models on which all problems of a design agree."""
    problems = [problem for problem in questions if all(option in problem.options[name] for name, option in design.options.items())]
    names = dict.fromkeys(name for problem in problems for name in problem.scope.on_models)
    candidates = {name: {problem.scope.on_models.get(name, ()) for problem in problems} for name in names}
    return {name: models.pop() for name, models in candidates.items() if len(models) == 1}


@dataclass(frozen=True, slots=True)
class BusyInterval:
    """Task in a segment of the iteration, in ns from the segment's start.

    `begins`, `ends`: start of the first batch and end of the last; None if unknown to the model.
    """

    task: int
    works: int
    begins: int | None = None
    ends: int | None = None

    @property
    def starves(self) -> int:
        """Waiting time for batches between the first and the last, in ns."""
        return 0 if self.begins is None or self.ends is None else self.ends - self.begins - self.works


@dataclass(frozen=True, slots=True)
class Usage:
    """Utilization of a block in a segment of the iteration.

    Attributes
    ----------
    block : index of the block; None for robots or processes of a component without accelerators.
    untimed : components on the block without a known time.
    """

    block: int | None
    components: tuple[str, ...]
    segment: int
    nanoseconds: int
    turns: tuple[BusyInterval, ...]
    untimed: tuple[str, ...] = ()

    @property
    def works(self) -> int:
        """Busy time of the block, in ns; unknown times count as 0."""
        return sum(turn.works for turn in self.turns)

    @property
    def idle(self) -> int:
        """Time in ns without any known work."""
        return self.nanoseconds - self.works

    @property
    def known(self) -> bool:
        """True if some component on the block has a known time."""
        return len(self.untimed) < len(self.components)


def group_by_block(usages: Sequence[Usage]) -> list[list[Usage]]:
    """Return the usages grouped by block, in the order of the segments."""
    usages_by_place: dict[tuple[int | None, tuple[str, ...]], list[Usage]] = {}
    for usage in usages:
        usages_by_place.setdefault((usage.block, usage.components), []).append(usage)
    return list(usages_by_place.values())


def busy(place: Sequence[Usage]) -> tuple[int, int]:
    """Return (busy time, total time) of a block per iteration, in ns."""
    return sum(usage.works for usage in place), sum(usage.nanoseconds for usage in place)


@dataclass(frozen=True)
class Baseline:
    """Placement in the file itself for the planned components: the baseline.

    Attributes
    ----------
    priced : its design with the best allowed segments; None if it has no price.
    why_not : reason for a missing price; "" if it has one.
    forbidden : violated demands of the file, one sentence each.
    unclear : True if the only objection is that the planner did not choose it: no demand or rule
        forbids it.
    over_estimates : memory estimates that it exceeds, one sentence each. They do not forbid it; it
        is not kept if the plan fits all estimates.
    """

    priced: CostedDesign | None
    problem: Problem
    question: PlanningProblem
    why_not: str = ""
    forbidden: tuple[str, ...] = ()
    unclear: bool = False
    over_estimates: tuple[str, ...] = ()
    bases: tuple[Basis, ...] = ()

    def may_stay(self, question: PlanningProblem) -> bool:
        """Return True if neither demands nor the plan's memory estimates forbid the baseline."""
        return not self.forbidden and not (self.over_estimates and question.heeds_estimates)

    def over(self, best: CostedDesign) -> float | None:
        """Return the slowdown against another design, as a share; None without a price."""
        if self.priced is None:
            return None
        takes = best.total
        return (self.priced.total - takes) / takes


@dataclass(frozen=True, slots=True)
class PlanChange:
    """Nearest factor on a component's times with another optimal plan.

    Attributes
    ----------
    holds : percent of its times up to which the plan holds at every factor; 100 if at none.
    takes : ns of an iteration of the plan at `flips`.
    flips : percent of its times at which another plan is better, or the plan breaks its budget.
    to : best known design at `flips`; None if no known design keeps the budget.
    placed : True if `to` is known to have a placement with this price.
    question : planning problem of `to`, with the original times.
    """

    component: str
    holds: int
    flips: int
    takes: int
    to: CostedDesign | None = None
    placed: bool = True
    question: PlanningProblem | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Sensitivity of the plan to errors in a component's times.

    The plan holds at factors in neither field.

    Attributes
    ----------
    flips : at most two per component, one slower and one quicker.
    left : (component, percent) of the first undecided factor; factors beyond it are unknown.
    traffic : True if traffic takes time: that of another plan is unknown until it is placed.
    """

    flips: tuple[PlanChange, ...] = ()
    left: tuple[tuple[str, int], ...] = ()
    searches: int = 0
    traffic: bool = False


@dataclass(frozen=True)
class ReportedAlternative:
    """Alternative design with the extra ns per task against the plan, largest first."""

    priced: CostedDesign
    adds: tuple[tuple[Task, int], ...]


@dataclass(frozen=True)
class Account:
    """Account of a plan: shares, utilization, memory, bases and alternatives.

    Attributes
    ----------
    shares : task -> ns that it adds to an iteration.
    usages : utilization of each block in each segment; empty if the cost model's units are not
        seconds.
    bills : memory of each block, then of accelerators with given ranks that are not planned.
    alternatives : best designs of other structures, and why they are slower.
    own : baseline under the same cost model; None if the file has no ranks.
    resources : component without accelerators -> kind of its resource, such as a robot type.
    assumed : assumptions about an iteration besides the times, one sentence each.
    given : True if the ranks are those of the file and `alternatives` were searched beside them.
    """

    planned: PlanningResult
    source: str
    shares: Mapping[Task, int]
    usages: tuple[Usage, ...]
    bills: tuple[BlockBill, ...]
    bases: tuple[Basis, ...]
    alternatives: tuple[ReportedAlternative, ...]
    own: Baseline | None = None
    sensitivity: Sensitivity | None = None
    resources: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    given: bool = False

    @property
    def bounds(self) -> tuple[int, int]:
        """Low and high ns of an iteration, by the bounds of estimated times."""
        low = high = self.planned.best.total
        for basis in self.bases:
            if basis.bounds:
                share = self.shares[basis.task]
                low += share * basis.bounds[0] // basis.nanoseconds - share
                high += share * basis.bounds[1] // basis.nanoseconds - share
        return low, high

    @property
    def keeps(self) -> bool:
        """True if the file's own placement may stay: allowed, no larger, near the best."""
        result, baseline = self.planned, self.own
        if baseline is not None and not baseline.may_stay(result.question):
            return False
        if self.given:
            value = result.best.total if result.question.aim == SECONDS else result.best.accelerators(result.question)
            return result.bound > 0 and (value - result.bound) * 100 <= result.bound * KEEP
        if baseline is None or baseline.priced is None:
            return False
        if result.is_own:
            return True
        over = baseline.priced.total - result.best.total
        more = baseline.priced.accelerators(result.question) - result.best.accelerators(result.question)
        if result.question.aim != SECONDS and more:
            return more < 0
        return over < 0 or (over > 0 and more <= 0 and over * 100 <= result.best.total * KEEP)
