"""Branch and bound over the choices of one structure: a multiple-choice knapsack with maxima.

A choice for each set, accelerators as the knapsack; the objective is a weighted sum of maxima of
load sums. A node of the search tree is a `Domains`; propagation narrows it, and the set with most
choices is halved.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Sequence

from .choices import BlockChoice
from .domains import Domains, Narrowing, raised
from .found import Price
from .sizing import Sizing

COUNTED = 50
"""Number of amount pairs whose traffic is computed in the time of one subproblem."""
AGAIN = 3
"""Maximum number of times that maxima are raised and sets narrowed again."""
Best = tuple[Price, tuple[BlockChoice, ...]]


class Branching:
    """Search tree over the choices of one structure.

    Attributes
    ----------
    best : incumbent: price and choices; None without one.
    floor : lower bound; None if no choices are feasible, or none below the cutoff.
    parts : subproblems solved.
    crossing : computed traffic between sets, as the number of subproblems that take as long.
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
        """Lower bound of the open subproblems and the incumbent."""
        known = [price for price, *_ in self._waiting[:1]] + ([self.best[0]] if self.best else [])
        return min(known, default=None)

    @property
    def decided(self) -> bool:
        """True if no subproblem is open."""
        return not self._waiting

    def search(self, below: Price | None, parts: int) -> None:
        """Search for choices below the cutoff and the incumbent, in at most `parts` subproblems."""
        if below is not None and (self._below is None or below < self._below):
            self._below = below
        end = self.parts + parts
        while self._waiting and self.parts < end:
            price, _, domains = heappop(self._waiting)
            if self._below is None or price < self._below:
                for part in self._divided(domains):
                    self._add(part)
            else:
                self._waiting.clear()

    def _add(self, domains: Domains) -> None:
        """Narrow a subproblem; keep it if it may hold an improvement."""
        self.parts += 1
        for _ in range(AGAIN):
            if not self._narrowing.narrow(domains, self._below):
                return
            self._try(tuple(places[0] for places in domains.left))
            rises = self._raise(domains)
            if rises is None:
                return
            if not rises:
                break
        price = self._narrowing.price(domains)
        if self._below is None or price < self._below:
            heappush(self._waiting, (price, -self.parts, domains))

    def _raise(self, domains: Domains) -> bool | None:
        """Raise the maxima and try the choices behind them."""
        price = self._narrowing.price(domains)
        time, used = self.sizing.question.by_aim(*price)
        allowed = self._narrowing.allowed(time, used, self._below)
        if allowed is None:
            return None
        rises = False
        for index, greatest in enumerate(self.sizing.greatest):
            if greatest.sums[0][0] in self.sizing.crossing:
                # The traffic of a set is no less with fewer accelerators, which all sets can have
                # at once.
                continue
            raise_found = raised(self._narrowing, domains, greatest, allowed[1])
            if raise_found is None:
                return None
            value, places = raise_found
            self._try(tuple(places.get(number, remaining[0]) for number, remaining in enumerate(domains.left)))
            if value > domains.floors[index]:
                rises = True
                domains.floors[index] = value
        return rises

    def _try(self, places: Sequence[int]) -> None:
        """Take choices as the incumbent if they improve on it."""
        sizing = self.sizing
        chosen = tuple(candidates[place] for candidates, place in zip(sizing.choices, places))
        if not sizing.allows(chosen):
            return
        price = sizing.price(chosen)
        if self._below is None or price < self._below:
            self.best, self._below = (price, chosen), price

    def _divided(self, domains: Domains) -> Sequence[Domains]:
        """Return two halves of a subproblem; () if its only solution was tried."""
        if all(len(places) == 1 for places in domains.left):
            return ()
        low, high = domains.copy(), domains
        number = max(range(len(domains.left)), key=lambda candidate: len(domains.left[candidate]))
        places = domains.left[number]
        half = (len(places) + 1) // 2
        low.left[number], high.left[number] = places[:half], places[half:]
        return low, high
