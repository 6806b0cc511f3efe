"""How wrong a hint may be before another plan would be better: each component slower or quicker than its times say."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from .....models.planning.design import Design
from .....models.planning.planned import Planned, Priced
from .....models.planning.question import Option, Question
from .....models.planning.workload import SECONDS
from ...check import price
from ...costs import cost_model
from ...costs.cost_model import CostModel, iteration, segment_times
from ...crossing.least import LeastCrossing
from ...search import Searched, Skip, search
from ...structures.structure import Structure
from ..placeable import Placeable
from ..shares import shares
from .flip import HUNDRED, QUICKEST, SLOWEST, WORTH, Flip, Sensitivity
from .floors import floors

SEARCHES = 200
"""Further searches at most, all components together."""
SPENT = 1.0
"""Deterministic seconds that these may take together."""


def sensitivity(
    planned: Planned, seed: int = 1, most: int = SEARCHES, limit: float = SPENT, placeable: Placeable | None = None
) -> Sensitivity:
    """How the plan fares where one component is slower or quicker, each by further searches over designs.

    What `placeable` knows to have no placement is no other plan; without it nothing is placed.

    A flip is exact: at `flips` a better design is known, at the percent before it a search found none. Whether the plan flips and
    flips back still nearer to what was said is not searched. The plan takes what its placement does for traffic too; of others that
    is not known, and they are taken to need the least that any placement of them does. All searches together take at most `limit`, in
    deterministic seconds.
    """
    run = _Run(planned, seed, most, limit, placeable)
    found: list[Flip] = []
    left: list[tuple[str, int]] = []
    adds = shares(planned.question, run.model, planned.best.design)
    weight = {name: sum(adds[task] for task in its) for name, its in planned.question.tasks_of.items() if its}
    names = sorted(weight, key=lambda name: -weight[name])  # what adds most is searched first
    crosses = any(each.traffic for each in (planned.best, *planned.others))
    unsure = not planned.proved and bool(planned.unplaceable)  # what may be better already is no flip
    if unsure or ((crosses or not planned.proved) and names and run.may_be_beaten(names[0])):
        return Sensitivity((), tuple((name, end) for name in planned.question.components if name in weight for end in (SLOWEST, QUICKEST)))
    ways = [(name, end) for end in (SLOWEST, QUICKEST) for name in names]
    nearest = {way: run.nearest(*way) for way in ways}  # cheap: what is known to be better, before anything is proved
    for name, end in ways:
        flip = run.flip(name, end, nearest[name, end])
        if flip is None:
            left.append((name, end))
        else:
            found.append(flip)
    order = planned.question.components
    found.sort(key=lambda flip: order.index(flip.component))
    left.sort(key=lambda way: order.index(way[0]))
    if placeable is not None:
        found = [replace(flip, placed=flip.to is None or placeable.is_placed(flip.to.design)) for flip in found]
    return Sensitivity(tuple(found), tuple(left), run.searches)


class _Run:
    """The further searches about one plan."""

    def __init__(self, planned: Planned, seed: int, most: int, limit: float, placeable: Placeable | None = None) -> None:
        self.planned, self.model, self.seed, self.most = planned, cost_model(planned.model), seed, most
        self.searches, self.spent, self.limit = 0, 0.0, limit
        self._shapes: dict[tuple[frozenset[frozenset[str]], tuple[int, ...]], bool] = {}
        self.floors: Mapping[Structure, int | None] | None = None
        self.placeable = placeable
        self.known = [each.design for each in planned.others if placeable is None or placeable.fits(each.design)]
        """Designs that may be better somewhere: each narrows what is to be searched."""

    def may_be_beaten(self, component: str) -> bool:
        """Is another design better by so much, as long as nobody knows what it takes for traffic, that nothing needs to change for it?"""
        searched = self._search(_Scaled(self.planned, self.model, component, HUNDRED), lambda structure: False)
        return searched is None or searched.best is not None

    def nearest(self, component: str, end: int, flips: int | None = None) -> int | None:
        """A percent on the way to `end`, no farther than `flips`, at which a design of a structure that is known is better; None if none is.

        What is better at the far end is better from some percent on; before that the next search looks.
        """
        step = 1 if end > HUNDRED else -1
        firsts = [first for other in self.known if (first := self._first(component, other, flips or end)) is not None]
        flips = min([*firsts, *([flips] if flips else [])], key=lambda first: abs(first - HUNDRED), default=None)
        at = end if flips is None else flips - step
        while at != HUNDRED:
            scaled = _Scaled(self.planned, self.model, component, at)
            searched = self._search(scaled, self._unknown)
            if searched is None or (searched.best is None and not scaled.broken):
                break
            first = self._first(component, scaled.as_it_was(searched.best.design) if searched.best else None, at)
            flips = at if first is None else first
            at = flips - step
        return flips

    def flip(self, component: str, end: int, flips: int | None) -> Flip | None:
        """Where the plan flips on the way to `end` percent, not after `flips`; None if the searches were used up and nothing is known."""
        step = 1 if end > HUNDRED else -1
        at, sure = end if flips is None else flips - step, True
        while at != HUNDRED:
            scaled = _Scaled(self.planned, self.model, component, at)
            searched = self._search(scaled, self._skip(scaled))
            if searched is None:
                return None if flips is None else self._sooner(component, flips, step)
            if searched.best is None and not scaled.broken:
                sure = searched.proved
                break
            flips = self.nearest(component, end, at) or at
            at = flips - step
        if flips is None:
            return Flip(component, at, sure=sure)
        there = _Scaled(self.planned, self.model, component, flips)
        searched = self._search(there, self._skip(there))
        if searched is None:
            return self._sooner(component, flips, step)
        to = there.priced(there.as_it_was(searched.best.design)) if searched.best else None
        return Flip(component, at, flips, to, there.takes, sure and searched.proved)

    def _sooner(self, component: str, flips: int, step: int) -> Flip:
        """A flip of which it is not known whether it comes sooner, or to something better."""
        there = _Scaled(self.planned, self.model, component, flips)
        better = [there.priced(other) for other in self.known if there.is_better(other)]
        to = min(better, key=lambda each: price(there.question, self.model, each.design), default=None)
        return Flip(component, flips - step, flips, to, there.takes, False)

    def _unknown(self, structure: Structure) -> bool:
        """Is no design of this structure known?"""
        shape = (frozenset(map(frozenset, structure.users)), structure.segments)
        if shape not in self._shapes:
            designs = (self.planned.best.design, *self.known)
            self._shapes[shape] = any(_is_of(design, structure) for design in designs)
        return not self._shapes[shape]

    def _search(self, scaled: _Scaled, skip: Skip) -> Searched | None:
        """The best that is better than the plan there, and has a placement; None if no search is left, or nothing is placed any more."""
        while True:
            if self.searches >= self.most or self.spent >= self.limit:
                return None
            searched = scaled.search(self.limit - self.spent, self.seed, skip)
            self.searches, self.spent = self.searches + 1, self.spent + searched.spent
            if self.placeable is None or searched.best is None:
                break
            design = scaled.as_it_was(searched.best.design)
            if self.placeable.fits(design):
                break
            if self.placeable.used_up:
                return None
            self.planned = replace(self.planned, question=self.placeable.without(design))
            scaled.ask(self.planned.question)
        if searched.best is not None:
            self.known.append(scaled.as_it_was(searched.best.design))
            self._shapes[frozenset(map(frozenset, searched.best.structure.users)), searched.best.structure.segments] = True
        return searched

    def _floors(self) -> Mapping[Structure, int | None]:
        if self.floors is None:
            self.floors, spent = floors(self.planned.question, self.model)
            self.spent += spent
        return self.floors

    def _skip(self, scaled: _Scaled) -> Skip:
        """What cannot be better than the plan there: no design is quicker than in proportion to the component that is."""
        most, share, known = scaled.bar[0], min(scaled.percent, HUNDRED), self._floors()

        def skip(structure: Structure) -> bool:
            floor = known.get(structure, 0)
            return floor is None or (most is not None and floor * share > most * HUNDRED)

        return skip

    def _first(self, component: str, other: Design | None, end: int) -> int | None:
        """A percent at which a design is better, or without one the budget broken, and at the one before not; None if not at `end`."""

        def beaten(percent: int) -> bool:
            scaled = _Scaled(self.planned, self.model, component, percent)
            return scaled.broken if other is None else scaled.is_better(other)

        if not beaten(end):
            return None
        near, far = HUNDRED, end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if beaten(middle) else (middle, far)
        return far


def _is_of(design: Design, structure: Structure) -> bool:
    """Is a design one of this structure?"""
    users = {frozenset(its) for its in structure.users}
    return design.segments == structure.segments and {frozenset(block.components) for block in design.blocks} <= users


def _nothing(design: Design) -> int:
    """What crosses where that takes no time."""
    return 0


class _Scaled:
    """The question in which one component takes another time."""

    def __init__(self, planned: Planned, model: CostModel, component: str, percent: int) -> None:
        self.model, self.component, self.percent = model, component, percent
        self.ask(planned.question)
        self.plan = self._of(planned.compared)
        self.takes = iteration(model, self.question, self.plan) + planned.best.traffic
        crossing = planned.question.crossing
        self._crosses = LeastCrossing(planned.question, crossing).of if crossing is not None else _nothing
        self._known = (self.plan,) if planned.best.traffic else ()
        """What traffic it takes is known of the plan alone: without it, it is no other plan."""

    def ask(self, question: Question) -> None:
        """Puts this question, in which the component takes another time."""
        self._options = {option: self._scale(option, question.batches) for option in question.options[self.component]}
        self.question = replace(question, options={**question.options, self.component: tuple(self._options.values())})

    def _scale(self, option: Option, batches: int) -> Option:
        times = (-(-time * self.percent // (HUNDRED * batches)) * batches for time in option.nanoseconds)
        return replace(option, nanoseconds=tuple(times))

    def _of(self, design: Design) -> Design:
        """A design of the question as it was, with the times of this one."""
        own = self._scale(design.options[self.component], self.question.batches)
        return replace(design, options={**design.options, self.component: own})

    def as_it_was(self, design: Design) -> Design:
        """A design of this question, with the times as they were."""
        own = next(plain for plain, its in self._options.items() if its == design.options[self.component])
        return replace(design, options={**design.options, self.component: own})

    def priced(self, design: Design) -> Priced:
        """A design of the question as it was, with what it takes here, and the least that crosses."""
        its = self._of(design)
        times = tuple(segment_times(self.model, self.question, its))
        return Priced(its, iteration(self.model, self.question, its), times, self._crosses(its))

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
        within = time is None or iteration(self.model, self.question, its) + self._crosses(its) <= time
        return within and (used is None or its.accelerators <= used)

    def search(self, limit: float, seed: int, skip: Skip) -> Searched:
        """The best design that is better here than the plan, if there is one."""
        time, used = self.bar
        if used == 0:
            return Searched((), None, True)
        budget = replace(self.question.budget, nanoseconds=time, accelerators=used)
        return search(replace(self.question, budget=budget), self.model, limit, seed, excluded=self._known, skip=skip)
