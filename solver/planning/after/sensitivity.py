"""How wrong a hint may be before another plan would be better: each component slower or quicker than its times say."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....models.planning.design import Design
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Option
from ....models.planning.workload import SECONDS
from ..costs import cost_model
from ..costs.cost_model import CostModel, iteration, segment_times
from ..search import search

HUNDRED = 100
SLOWEST, QUICKEST = 400, 25
"""Percent of the times that a component was said to take, between which it is searched."""
WORTH = 5
"""Percent by which another plan must be better, so that a plan is said to flip."""
SEARCHES = 40
"""Further searches at most, all components together."""


@dataclass(frozen=True, slots=True)
class Flip:
    """What happens to a plan where one component takes another time than was said.

    Attributes
    ----------
    component : whose times are others.
    holds : percent of its times at which the plan is as good as any, but for less than `WORTH` percent; searched.
    flips : the next percent, at which it is not; None if it holds as far as was searched.
    to : the best design there; None if nothing is known or nothing holds there.
    takes : ns of an iteration of the plan there.
    sure : was every search that this rests on a proof?
    """

    component: str
    holds: int
    flips: int | None = None
    to: Priced | None = None
    takes: int = 0
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """For each component what happens where it is slower, then where it is quicker; `left` are those that were not searched any more."""

    flips: tuple[Flip, ...]
    left: tuple[str, ...] = ()
    searches: int = 0


def sensitivity(planned: Planned, limit: float = 10.0, seed: int = 1, most: int = SEARCHES) -> Sensitivity:
    """How the plan fares where one component is slower or quicker, each by further searches over designs; nothing is placed.

    A flip is exact: at `flips` a better design is known, at the percent before it a search found none. Whether the plan flips and
    flips back still nearer to what was said is not searched. `limit` is of each search, in deterministic seconds.
    """
    run = _Run(planned, limit, seed, most)
    found: list[Flip] = []
    left: list[str] = []
    for name in planned.question.components:
        if not planned.question.tasks_of[name]:
            continue
        for end in (SLOWEST, QUICKEST):
            flip = run.flip(name, end)
            if flip is None:
                left.append(name)
                break
            found.append(flip)
    return Sensitivity(tuple(found), tuple(left), run.searches)


class _Run:
    """The further searches about one plan."""

    def __init__(self, planned: Planned, limit: float, seed: int, most: int) -> None:
        self.planned, self.model = planned, cost_model(planned.model)
        self.limit, self.seed, self.most, self.searches = limit, seed, most, 0

    def flip(self, component: str, end: int) -> Flip | None:
        """Where the plan flips on the way to `end` percent; None if the searches were used up before that was known.

        From the far end: what is better there is better from some percent on, before which the next search looks.
        """
        step = 1 if end > HUNDRED else -1
        at, beaten, other, sure = end, False, None, True
        while at != HUNDRED:
            if self.searches >= self.most:
                return None
            self.searches += 1
            scaled = _Scaled(self.planned, self.model, component, at)
            found, proved = scaled.better(self.limit, self.seed)
            if found is None and not scaled.broken:
                sure = proved
                break
            beaten, other = True, found
            at = self._first(component, other, at, step) - step
        if not beaten:
            return Flip(component, at, sure=sure)
        there = _Scaled(self.planned, self.model, component, at + step)
        return Flip(component, at, at + step, there.priced(other) if other else None, there.takes, sure)

    def _first(self, component: str, other: Design | None, at: int, step: int) -> int:
        """The percent nearest to what was said from which on, up to `at`, the other design is better, or the budget is broken."""
        while at - step != HUNDRED:
            nearer = _Scaled(self.planned, self.model, component, at - step)
            if not (nearer.broken if other is None else nearer.is_better(other)):
                break
            at -= step
        return at


class _Scaled:
    """The question in which one component takes another time."""

    def __init__(self, planned: Planned, model: CostModel, component: str, percent: int) -> None:
        question = planned.question
        self.model, self.component, self.percent = model, component, percent
        batches = question.batches
        self._options = {option: self._scale(option, batches) for option in question.options[component]}
        self.question = replace(question, options={**question.options, component: tuple(self._options.values())})
        self.plan = self._of(planned.best.design)
        self.excluded = [self._of(each.priced.design) for each in planned.unplaceable]
        self.takes = iteration(model, self.question, self.plan)

    def _scale(self, option: Option, batches: int) -> Option:
        times = (-(-time * self.percent // (HUNDRED * batches)) * batches for time in option.nanoseconds)
        return replace(option, nanoseconds=tuple(times))

    def _of(self, design: Design) -> Design:
        """A design of the question as it was, with the times of this one."""
        own = self._options[design.options[self.component]]
        return replace(design, options={**design.options, self.component: own})

    def _as_it_was(self, design: Design) -> Design:
        """A design of this question, with the times as they were."""
        own = next(plain for plain, its in self._options.items() if its == design.options[self.component])
        return replace(design, options={**design.options, self.component: own})

    def priced(self, design: Design) -> Priced:
        """A design of the question as it was, with what it takes here."""
        its = self._of(design)
        return Priced(its, iteration(self.model, self.question, its), tuple(segment_times(self.model, self.question, its)))

    @property
    def broken(self) -> bool:
        """Does the plan take more than it may?"""
        most = self.question.budget.nanoseconds
        return most is not None and self.takes > most

    @property
    def bar(self) -> tuple[int | None, int | None]:
        """(ns, accelerators) that a design may have at most to be better; None: any."""
        if self.broken:
            return self.question.budget.nanoseconds, self.question.budget.accelerators
        if self.question.aim == SECONDS:
            return (self.takes * HUNDRED - 1) // (HUNDRED + WORTH), self.question.budget.accelerators
        return self.question.budget.nanoseconds, self.plan.accelerators - 1

    def is_better(self, design: Design) -> bool:
        """Is a design of the question as it was better here than the plan: by `WORTH` percent of time, or by an accelerator?"""
        (time, used), its = self.bar, self._of(design)
        within = time is None or iteration(self.model, self.question, its) <= time
        return within and (used is None or its.accelerators <= used)

    def better(self, limit: float, seed: int) -> tuple[Design | None, bool]:
        """The best design, with the times as they were, that is better here than the plan; and whether that is proved."""
        time, used = self.bar
        if used == 0:
            return None, True
        budget = replace(self.question.budget, nanoseconds=time, accelerators=used)
        searched = search(replace(self.question, budget=budget), self.model, limit, seed, excluded=self.excluded)
        return (self._as_it_was(searched.best.design) if searched.best else None), searched.proved
