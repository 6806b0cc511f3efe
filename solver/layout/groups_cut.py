"""Groups of a range that lie in several domains, where the ranks do not go through the range as it lies."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import lcm
from typing import Sequence

from .ranks.seating import Order


class GroupsCut:
    """The groups of one size that borders between domains cut.

    Parameters
    ----------
    where : the domain of each resource rank of a numbering.
    size : resources of a group, one after the other in the order of ranks.
    order : the order of ranks in each block of a range (see `seating.order_in_blocks`).
    """

    def __init__(self, where: Sequence[object], size: int, order: Order) -> None:
        self._where, self._size, self._order = where, size, order
        self._borders = [rank for rank in range(1, len(where)) if where[rank] != where[rank - 1]]
        self._chunk = lcm(size, len(order))

    def between(self, start: int, stop: int) -> int:
        """How many whole groups of the range from `start` to `stop`, which consists of whole blocks, lie in several domains."""
        inside = self._borders[bisect_right(self._borders, start) : bisect_left(self._borders, stop)]
        chunks = dict.fromkeys((border - start) // self._chunk for border in inside)
        return sum(self._cut(start + chunk * self._chunk, stop) for chunk in chunks)

    def _cut(self, first: int, stop: int) -> int:
        ranks = range(first, min(first + self._chunk, stop))
        its = [self._where[ranks[block + number]] for block in range(0, len(ranks), len(self._order)) for number in self._order]
        groups = (its[at : at + self._size] for at in range(0, len(its) - self._size + 1, self._size))
        return sum(len(set(group)) > 1 for group in groups)
