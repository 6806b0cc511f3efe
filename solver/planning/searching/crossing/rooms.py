"""How few domains of a level hold so many accelerators."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Sequence


class Rooms:
    """The domains of one level for one kind of accelerators.

    Parameters
    ----------
    free : for each domain, how many are free on each of its nodes.
    """

    def __init__(self, free: Sequence[Sequence[int]]) -> None:
        self.there = tuple(any(nodes) for nodes in free)
        self.count = sum(self.there)
        self._free = free
        self._most: dict[int, list[int]] = {}

    def held(self, group: int = 1) -> list[int]:
        """What no domain, one, two and so on to all of them hold at most, in whole groups on each node."""
        if group not in self._most:
            each = sorted((sum(free // group * group for free in nodes) for nodes in self._free if any(nodes)), reverse=True)
            self._most[group] = [0, *accumulate(each)]
        return self._most[group]

    def most(self, domains: int, group: int = 1) -> int:
        """What so many domains hold at most, in whole groups on each node."""
        return self.held(group)[min(domains, self.count)]

    def fewest(self, amount: int, group: int = 1) -> int | None:
        """How many domains hold so many at least; None where all of them do not."""
        held = self.held(group)
        place = bisect_left(held, amount)
        return place if place < len(held) else None
