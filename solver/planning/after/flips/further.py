"""Further searches about one plan: from which percent of a component's times on another design is better."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from .....models.planning.design import Design
from .....models.planning.planned import Planned
from ...check import price
from ...costs import cost_model
from ...search import Searched, Skip
from ...structures.structure import Structure
from ..placeable import Placeable
from .flip import HUNDRED, Flip
from .floors import floors
from .scaled import Scaled


class Further:
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
        searched = self._search(Scaled(self.planned, self.model, component, HUNDRED), lambda structure: False)
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
            scaled = Scaled(self.planned, self.model, component, at)
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
            scaled = Scaled(self.planned, self.model, component, at)
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
        there = Scaled(self.planned, self.model, component, flips)
        searched = self._search(there, self._skip(there))
        if searched is None:
            return self._sooner(component, flips, step)
        to = there.priced(there.as_it_was(searched.best.design)) if searched.best else None
        return Flip(component, at, flips, to, there.takes, sure and searched.proved)

    def _sooner(self, component: str, flips: int, step: int) -> Flip:
        """A flip of which it is not known whether it comes sooner, or to something better."""
        there = Scaled(self.planned, self.model, component, flips)
        better = [there.priced(other) for other in self.known if there.is_better(other)]
        to = min(better, key=lambda each: price(there.question, self.model, each.design), default=None)
        return Flip(component, flips - step, flips, to, there.takes, False)

    def _unknown(self, structure: Structure) -> bool:
        """Is no design of this structure known?"""
        shape = (frozenset(map(frozenset, structure.users)), structure.segments)
        if shape not in self._shapes:
            designs = (self.planned.best.design, *self.known)
            self._shapes[shape] = any(map(structure.is_of, designs))
        return not self._shapes[shape]

    def _search(self, scaled: Scaled, skip: Skip) -> Searched | None:
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

    def _skip(self, scaled: Scaled) -> Skip:
        """What cannot be better than the plan there: no design is quicker than in proportion to the component that is."""
        most, share, known = scaled.bar[0], min(scaled.percent, HUNDRED), self._floors()

        def skip(structure: Structure) -> bool:
            floor = known.get(structure, 0)
            return floor is None or (most is not None and floor * share > most * HUNDRED)

        return skip

    def _first(self, component: str, other: Design | None, end: int) -> int | None:
        """A percent at which a design is better, or without one the budget broken, and at the one before not; None if not at `end`."""

        def beaten(percent: int) -> bool:
            scaled = Scaled(self.planned, self.model, component, percent)
            return scaled.broken if other is None else scaled.is_better(other)

        if not beaten(end):
            return None
        near, far = HUNDRED, end
        while abs(far - near) > 1:
            middle = (near + far) // 2
            near, far = (near, middle) if beaten(middle) else (middle, far)
        return far
