"""Further searches about one plan: from which percent of a component's times on another design is better."""

from __future__ import annotations

from typing import Callable, Mapping, NamedTuple, Sequence

from .....models.planning.design import Design
from .....models.planning.planned import Planned
from .....models.planning.workload import SECONDS
from ...candidates.cuts import Cuts
from ...costs import cost_model
from ...search import Skip
from ...structures.structure import Structure
from ..placeable import Placeable
from .flip import HUNDRED, Flip
from .floors import floors
from .scaled import Scaled, number_of

Skips = Callable[[int], Skip]
"""For each question, by its number, the structures that are not searched."""


class Beaten(NamedTuple):
    """What a search of all questions found: the best that is better than the plan, with the times as they were, and whether that is proved."""

    best: Design | None
    proved: bool


class Further:
    """The further searches about one plan."""

    def __init__(self, planned: Planned, seed: int, most: int, limit: float, placeables: Sequence[Placeable] = ()) -> None:
        """`placeables`: one for each question of which the plan is the best answer; none where nothing is placed."""
        self.planned, self.model, self.seed, self.most = planned, cost_model(planned.model), seed, most
        self.searches, self.spent, self.limit = 0, 0.0, limit
        self.questions = list(planned.parts or (planned.question,))
        self.placeables = placeables
        self._floors: dict[int, Mapping[Structure, int | None]] = {}
        self.known = [each.design for each in planned.others if not placeables or self._placeable(each.design).fits(each.design)]
        """Designs that may be better somewhere: each narrows what is to be searched."""

    def is_placed(self, design: Design | None) -> bool:
        """Is it known that a design has a placement? True where nothing is placed."""
        return design is None or not self.placeables or self._placeable(design).is_placed(design)

    def _placeable(self, design: Design) -> Placeable:
        return self.placeables[number_of(self.questions, design)]

    def may_be_beaten(self, component: str) -> bool:
        """Is another design better by so much, as long as nobody knows what it takes for traffic, that nothing needs to change for it?"""
        found = self._search(self._scaled(component, HUNDRED), lambda number: lambda structure: False)
        return found is None or found.best is not None

    def stays(self, component: str, end: int) -> bool:
        """Is the plan as good as any at `end` percent, since no cut of an iteration takes less, whoever shares with whom?"""
        scaled = self._scaled(component, end)
        most = scaled.bar[0]
        by_time = self.planned.question.aim == SECONDS
        if not by_time or most is None or scaled.broken or self.searches >= self.most or self.spent >= self.limit:
            return False
        questions = [scaled.question(number) for number in range(len(self.questions))]
        if not all(Cuts.bound(question, self.model) for question in questions):
            return False
        self.searches += 1
        return all(Cuts(question, self.model, self._spend).least(most) > most for question in questions)

    def _spend(self, seconds: float) -> bool:
        self.spent += seconds
        return self.spent < self.limit

    def nearest(self, component: str, end: int, flips: int | None = None) -> int | None:
        """A percent on the way to `end`, no farther than `flips`, at which a design that is known is better; None if none is.

        What is better at the far end is better from some percent on; before that the next search looks.
        """
        firsts = [first for other in self.known if (first := self._first(component, other, flips or end)) is not None]
        return min([*firsts, *([flips] if flips else [])], key=lambda first: abs(first - HUNDRED), default=None)

    def flip(self, component: str, end: int, flips: int | None) -> Flip | None:
        """Where the plan flips on the way to `end` percent, not after `flips`; None if the searches were used up and nothing is known."""
        step = 1 if end > HUNDRED else -1
        at, sure = end if flips is None else flips - step, True
        while at != HUNDRED:
            scaled = self._scaled(component, at)
            found = self._search(scaled, self._skips(scaled))
            if found is None:
                return None if flips is None else self._sooner(component, flips, step)
            if found.best is None and not scaled.broken:
                sure = found.proved
                break
            flips = self.nearest(component, end, at) or at
            at = flips - step
        if flips is None:
            return Flip(component, at, sure=sure)
        there = self._scaled(component, flips)
        found = self._search(there, self._skips(there))
        if found is None:
            return self._sooner(component, flips, step)
        to = there.priced(found.best) if found.best is not None else None
        return Flip(component, at, flips, to, there.takes, sure and found.proved)

    def _sooner(self, component: str, flips: int, step: int) -> Flip:
        """A flip of which it is not known whether it comes sooner, or to something better."""
        there = self._scaled(component, flips)
        to = min(filter(there.is_better, self.known), key=there.price, default=None)
        return Flip(component, flips - step, flips, there.priced(to) if to is not None else None, there.takes, False)

    def _scaled(self, component: str, percent: int) -> Scaled:
        return Scaled(self.planned, self.model, component, percent, self.questions)

    def _search(self, scaled: Scaled, skips: Skips) -> Beaten | None:
        """The best that is better than the plan there, and has a placement; None if no search is left, or nothing is placed any more."""
        best, proved = None, True
        for number in range(len(self.questions)):
            found = self._search_one(number, scaled, skips(number))
            if found is None:
                return None
            proved = proved and found.proved
            if found.best is not None and (best is None or scaled.price(found.best) < scaled.price(best)):
                best = found.best
        return Beaten(best, proved)

    def _search_one(self, number: int, scaled: Scaled, skip: Skip) -> Beaten | None:
        """The same of one of the questions."""
        while True:
            if self.searches >= self.most or self.spent >= self.limit:
                return None
            searched = scaled.search(number, self.limit - self.spent, self.seed, skip)
            self.searches, self.spent = self.searches + 1, self.spent + searched.spent
            if searched.best is None:
                return Beaten(None, searched.proved)
            design = scaled.as_it_was(number, searched.best.design)
            if not self.placeables or self.placeables[number].fits(design):
                break
            if self.placeables[number].used_up:
                return None
            self.questions[number] = self.placeables[number].without(design)
            scaled.ask(number, self.questions[number])
        self.known.append(design)
        return Beaten(design, searched.proved)

    def _floors_of(self, number: int) -> Mapping[Structure, int | None]:
        if number not in self._floors:
            self._floors[number], spent = floors(self.questions[number], self.model)
            self.spent += spent
        return self._floors[number]

    def _skips(self, scaled: Scaled) -> Skips:
        """What cannot be better than the plan there: no design is quicker than in proportion to the component that is."""
        most, share = scaled.bar[0], min(scaled.percent, HUNDRED)

        def skips(number: int) -> Skip:
            known = self._floors_of(number)

            def skip(structure: Structure) -> bool:
                floor = known.get(structure, 0)
                return floor is None or (most is not None and floor * share > most * HUNDRED)

            return skip

        return skips

    def _first(self, component: str, other: Design | None, end: int) -> int | None:
        """A percent at which a design is better, or without one the budget broken, and at the one before not; None if not at `end`."""

        def beaten(percent: int) -> bool:
            scaled = self._scaled(component, percent)
            return scaled.broken if other is None else scaled.is_better(other)

        if not beaten(end):
            return None
        near, far = HUNDRED, end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if beaten(middle) else (middle, far)
        return far
