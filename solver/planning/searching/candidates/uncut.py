"""One arrangement in work: what it costs at least, before it is said how its iteration is cut."""

from __future__ import annotations

from ..price import Price
from ..sizes.branching import Branching
from ..structures.every import Arrangement
from .ranked import Ranked


class Uncut:
    """An arrangement whose counts and degrees are searched for, as far as any cut of it can be among the best.

    Attributes
    ----------
    floor : no structure of it costs less that could be among the best.
    looked : was it searched?
    possible : False where it is known to have no design at all.
    """

    def __init__(self, number: int, arrangement: Arrangement, ranked: Ranked, floor: Price) -> None:
        self.number, self.arrangement, self.floor = number, arrangement, floor
        self.looked, self.possible = False, True
        self._ranked = ranked

    def look(self, below: Price | None, parts: int) -> int:
        """Raises the floor in so many parts, as far as what costs less than `below` is concerned; at how many it looked."""
        self.looked = True
        branching = Branching(self._ranked)
        branching.search(below, parts)
        reached = [price for price in (branching.floor, below if branching.decided else None) if price is not None]
        self.possible = bool(reached)
        self.floor = max(self.floor, min(reached, default=self.floor))
        return branching.parts
