"""Where very many structures are listed: what takes least to list is searched first, so that as many ways as may be are decided."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Sequence

from .further import Further
from .listed import expected, list_all
from .way import Way

LONGER = 3
"""So many times what is expected it may take to list something."""
ENOUGH = 0.1
"""Deterministic seconds that it may take to list something in any case."""
SHARE = 0.9
"""Of the time that is left, what a part of a way may be expected to take."""
HOPELESS = 2
"""So many times what is left is too much: half of a way takes more than half of what all of it does."""
NEAR = 4
"""Percents of a component's times that are not parted any more."""


class Cheapest:
    """Searches ways from part to part, those that take least first."""

    def __init__(self, run: Further, ways: Sequence[Way], until: float) -> None:
        """`until` so many deterministic seconds are spent."""
        self._run, self._ways, self._until = run, ways, until
        self._waiting: list[tuple[float, int, int]] = []

    def search(self) -> None:
        """As far as there is time."""
        for number, way in enumerate(self._ways):
            self._go_on(number, way)
        while self._waiting and self._left > 0:
            takes, number, far = heappop(self._waiting)
            way = self._ways[number]
            if takes > SHARE * self._left:
                self._put(number, way, way.half(far))
            elif list_all(self._run, way.component, way.next, far, self._run.spent + min(self._left, LONGER * takes + ENOUGH)):
                self._go_on(number, way)

    @property
    def _left(self) -> float:
        return self._run.left(self._until)

    def _go_on(self, number: int, way: Way) -> None:
        """Searches what is listed of a way; what is left of it waits."""
        if way.search_listed(self._until):
            way.name_best(self._until)
            if way.open:
                self._put(number, way, way.to)

    def _put(self, number: int, way: Way, far: int) -> None:
        """The part of a way up to `far` waits, or as much of it as there may be time for."""
        while self._left > 0:
            takes = expected(self._run, way.component, way.next, far)
            if takes is not None and takes <= SHARE * self._left:
                heappush(self._waiting, (takes, number, far))
                return
            if abs(far - way.next) < NEAR or (takes is not None and takes > HOPELESS * self._left):
                return
            far = way.half(far)
