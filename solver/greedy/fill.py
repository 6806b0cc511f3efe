"""Units of a counted bundle go into as few domains of the topology as a simple way finds, whole groups into each."""

from __future__ import annotations

from typing import Sequence

from ...models.machines.topology import LEVELS
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.layout import Layout
from ..layout.reach import eligible

Room = dict[int, int]
"""node rank -> how many resources are free."""


class Filling:
    """Where a bundle finds room, domain inside domain."""

    def __init__(self, layout: Layout, bundle: Bundle, room: Room) -> None:
        self._bundle, self._room = bundle, room
        self._cells = eligible(layout, bundle)
        self._many = {level: bundle.whole(level) // bundle.unit for level in LEVELS}
        self._levels = tuple(level for level in LEVELS if len(layout.domains(level)) > 1)
        self.space = self._space(self._cells, self._levels)

    def _domains(self, cells: Sequence[Cell], level: str) -> list[list[Cell]]:
        found: dict[str, list[Cell]] = {}
        for cell in cells:
            found.setdefault(cell.domain(level), []).append(cell)
        return list(found.values())

    def _space(self, cells: Sequence[Cell], levels: Sequence[str]) -> int:
        """How many units these cells hold, in whole groups of every level."""
        if not levels:
            return sum(self._room.get(node.rank, 0) // self._bundle.unit for cell in cells for node in cell.nodes)
        level, narrower = levels[0], levels[1:]
        many = self._many[level]
        return sum(self._space(its, narrower) // many * many for its in self._domains(cells, level))

    def place(self, wanted: int) -> dict[Cell, int]:
        """How many of the wanted units go into which cell; takes them out of the room."""
        counts: dict[Cell, int] = {}
        self._take(self._cells, self._levels, wanted, self._shares(wanted), counts)
        return counts

    def _shares(self, wanted: int) -> dict[str, int]:
        """Level -> how many units one of its domains may hold at most, where that is said."""
        found: dict[str, int] = {}
        for component in self._bundle.components:
            groups = wanted * self._bundle.unit // component.group_size
            for spread in component.spread:
                share = -(-groups * spread.percent // 100) * component.group_size // self._bundle.unit
                found[spread.level] = min(share, found.get(spread.level, wanted))
        return found

    def _take(self, cells: Sequence[Cell], levels: Sequence[str], wanted: int, shares: dict[str, int], counts: dict[Cell, int]) -> int:
        """How many of the wanted units were placed."""
        left = wanted
        if not levels:
            for cell in cells:
                for node in cell.nodes:
                    if taken := min(left, self._room.get(node.rank, 0) // self._bundle.unit):
                        self._room[node.rank] -= taken * self._bundle.unit
                        counts[cell] = counts.get(cell, 0) + taken
                        left -= taken
            return wanted - left
        level, narrower, many = levels[0], levels[1:], self._many[levels[0]]
        share = shares.get(level, wanted)
        waiting = [(min(self._space(its, narrower), share) // many * many, its) for its in self._domains(cells, level)]
        while left >= many and waiting:
            # The smallest domain that holds all that is left; else the roomiest one.
            enough = [number for number, (space, _) in enumerate(waiting) if space >= left]
            if enough:
                number = min(enough, key=lambda each: waiting[each][0])
            else:
                number = max(range(len(waiting)), key=lambda each: waiting[each][0])
            space, its = waiting.pop(number)
            left -= self._take(its, narrower, min(left, space) // many * many, shares, counts)
        return wanted - left
