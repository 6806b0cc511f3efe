"""Branch and bound over the choices of one structure."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Sequence

from ...models.planning.workload import SECONDS
from .choices import Choice
from .domains import Domains, Narrowing, raised
from .found import Price
from .sizing import Sizing

COUNTED = 50
"""Amounts of two sets between which it is counted what crosses, in the time of one part."""
AGAIN = 3
"""Times that the maxima of one part are raised and all sets narrowed once more."""


Best = tuple[Price, tuple[Choice, ...]]


class Branching:
    """A structure whose choices are searched for.

    Attributes
    ----------
    best : the best choices that were found until now, and what they cost; None if there are none.
    floor : no choices cost less; None if there are none at all, or none that cost less than what was asked for.
    parts : how many parts of the structure were looked at.
    crossing : parts that take as long as counting what crosses between its sets took, where it was not known yet.
    """

    def __init__(self, sizing: Sizing) -> None:
        self.sizing, self._narrowing = sizing, Narrowing(sizing)
        self.best: Best | None = None
        self.parts = 0
        self._below: Price | None = None
        self._waiting: list[tuple[Price, int, Domains]] = []
        self.crossing = 0
        if all(sizing.choices):
            before = sizing.ways.counted
            self._add(self._narrowing.start())
            self.crossing = (sizing.ways.counted - before) // COUNTED

    @property
    def floor(self) -> Price | None:
        """See the attributes."""
        known = [price for price, *_ in self._waiting[:1]] + ([self.best[0]] if self.best else [])
        return min(known, default=None)

    @property
    def decided(self) -> bool:
        """Is nothing left to be looked at?"""
        return not self._waiting

    def search(self, below: Price | None, parts: int) -> None:
        """Looks for choices that cost less than `below` and than the best so far, in so many parts.

        What costs no less than `below` is never looked at again.
        """
        if below is not None and (self._below is None or below < self._below):
            self._below = below
        most = self.parts + parts
        while self._waiting and self.parts < most:
            price, _, domains = heappop(self._waiting)
            if self._below is None or price < self._below:
                for part in self._divided(domains):
                    self._add(part)
            else:
                self._waiting.clear()

    def _add(self, domains: Domains) -> None:
        """Narrows a part, and keeps it if it can hold anything better."""
        self.parts += 1
        for _ in range(AGAIN):
            if not self._narrowing.narrow(domains, self._below):
                return
            self._try(tuple(its[0] for its in domains.left))
            rises = self._raise(domains)
            if rises is None:
                return
            if not rises:
                break
        price = self._narrowing.price(domains)
        if self._below is None or price < self._below:
            heappush(self._waiting, (price, -self.parts, domains))

    def _raise(self, domains: Domains) -> bool | None:
        """Raise the maxima, and try what comes out; True if any rose, None if nothing fits."""
        price = self._narrowing.price(domains)
        time, used = price if self.sizing.question.aim == SECONDS else (price[1], price[0])
        most = self._narrowing.allowed(time, used, self._below)
        if most is None:
            return None
        rises = False
        for index, each in enumerate(self.sizing.greatest):
            if each.sums[0][0] in self.sizing.crossing:
                continue  # it is no more with fewer accelerators, which all can have at once
            found = raised(self._narrowing, domains, each, most[1])
            if found is None:
                return None
            value, places = found
            self._try(tuple(places.get(number, its[0]) for number, its in enumerate(domains.left)))
            if value > domains.floors[index]:
                rises = True
                domains.floors[index] = value
        return rises

    def _try(self, places: Sequence[int]) -> None:
        """Takes choices as the best so far, if they are."""
        sizing = self.sizing
        chosen = tuple(its[place] for its, place in zip(sizing.choices, places))
        if not sizing.allows(chosen):
            return
        price = sizing.price(chosen)
        if self._below is None or price < self._below:
            self.best, self._below = (price, chosen), price

    def _divided(self, domains: Domains) -> Sequence[Domains]:
        """Two parts that are all of it together; none if its only answer was tried."""
        if all(len(its) == 1 for its in domains.left):
            return ()
        low, high = domains.copy(), domains
        number = max(range(len(domains.left)), key=lambda each: len(domains.left[each]))
        its = domains.left[number]
        half = (len(its) + 1) // 2
        low.left[number], high.left[number] = its[:half], its[half:]
        return low, high
