"""How a search for designs stands: what was found of which structure, and what of all others is known."""

from __future__ import annotations

from heapq import nsmallest
from typing import Sequence

from ....sandbox.stopped import Stopped
from ..price import Price
from ..searched import Found, Searched
from ..sizes.choice import Choice
from ..structures.structure import Structure
from .candidate import Candidate

SEEN = 30
"""Structures of which the best design is told at most, beside those that are asked for."""


class Standing:
    """The structures that are looked at, and the best designs of them.

    Attributes
    ----------
    open : the structures that are looked at.
    unseen : what structures cost at least that nobody looked at; None if there are none, or none that can be among the best.
    passed : what structures cost at least that were passed over, as they are no better than the best; None if there are none.
    least : what was told that no design costs less than.
    best : the best design of each of the best structures, the best first: one more than what is asked for.
    without : structures that are proved to have no design, where it is searched among some.
    any_will_do : is it only asked whether there is any design?
    """

    def __init__(self, count: int, unseen: Price | None, any_will_do: bool = False) -> None:
        """`count`: of so many structures the best designs are asked for; `any_will_do`: or whether there is any."""
        self.count, self.unseen, self.any_will_do = count, unseen, any_will_do
        self.passed: Price | None = None
        self.least: Price = (0, 0)
        self.open: list[Candidate] = []
        self.best: list[Found] = []
        self.without: list[Structure] = []

    @property
    def ended(self) -> bool:
        """Is all found that was asked for, whatever else there is?"""
        return self.any_will_do and bool(self.best)

    @property
    def bar(self) -> Price | None:
        """What the next structure must be better than."""
        return self.best[self.count - 1].price if len(self.best) >= self.count else None

    def can_be_better(self, one: Candidate) -> bool:
        """Could it hold a design that is among the best, and better than its own best one?"""
        bars = [price for price in (self.below(one), one.found.price if one.found else None) if price is not None]
        return not bars or one.floor < min(bars)

    def below(self, one: Candidate) -> Price | None:
        """What a structure must be better than to be among the best."""
        others = [found.price for found in self.best[: self.count + 1] if found.number != one.number]
        return others[self.count - 1] if len(others) >= self.count else None

    def found(self, one: Candidate, chosen: Sequence[Choice]) -> None:
        """Takes these choices as the best of a structure."""
        found = Found(one.sizing.price(chosen), one.number, one.sizing.design(chosen), one.sizing.structure)
        self.best = sorted([*(each for each in self.best if each is not one.found), found])[: self.count + 1]
        one.found = found

    def bound(self) -> Price:
        """No design costs less, as far as it is known by now; what cannot be better than what was found costs no less than the best of that."""
        floors = [each.floor for each in self.open if not each.proved]
        floors += [each for each in (self.unseen, self.passed) if each is not None]
        best = [self.best[0].price] if self.best else []
        self.least = max(self.least, min([*floors, *best], default=(0, 0)))
        return self.least

    def result(self, spent: float, stopped: Stopped | None) -> Searched:
        """What was found and proved."""
        for each in self.open:  # what came between a candidate and its being told of
            if each.best is not None and (each.found is None or each.best[0] < each.found.price):
                self.found(each, each.best[1])
        found = tuple(self.best[: self.count])
        bar = found[-1].price if len(found) == self.count else None
        floors = [each.floor for each in self.open if not each.proved]
        floors += [max(each, self.least) for each in (self.unseen, self.passed) if each is not None]
        unproved = [floor[0] for floor in floors if bar is None or floor < bar]
        first_proved = all(found and floor >= found[0].price for floor in floors)
        why = stopped if unproved else None
        counted = (sum(each.possible for each in self.open), sum(each.searched for each in self.open))
        bound = min([*unproved, *(each.price[0] for each in found[:1])], default=None)
        bound = None if bound is None else max(bound, self.least[0])
        seen = nsmallest(SEEN, (each.found for each in self.open if each.found is not None))
        return Searched(
            found, bound, not unproved, counted, spent, why, first_proved, tuple(each.design for each in seen), tuple(self.without)
        )
