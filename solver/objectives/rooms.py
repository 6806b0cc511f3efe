"""How much of a bundle, or of several together, each domain of the topology can hold: the capacities of the objective's rows."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Sequence
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.cell import Cell
    from ..layout.layout import Layout
    from ..layout.pool import Pool


class Rooms:
    """Capacities of the domains for the searched bundles of a layout; all are upper bounds on what an answer has there."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._domains: dict[str, dict[str, list[Cell]]] = {}
        self._capacity: dict[tuple[int, Pool, int], int] = {}
        self._most: dict[tuple[Bundle, str, str], int] = {}

    def cells(self, level: str, name: str) -> Sequence[Cell]:
        """The cells in a domain."""
        if level not in self._domains:
            found = self._domains[level] = {}
            for cell in self.layout.cells:
                found.setdefault(cell.domain(level), []).append(cell)
        return self._domains[level].get(name, ())

    def names(self, level: str) -> Sequence[str]:
        """The domains of a level."""
        self.cells(level, "")
        return list(self._domains[level])

    def most(self, bundle: Bundle, level: str, name: str) -> int:
        """Most resources that the bundle can have in the domain, were it alone."""
        key = (bundle, level, name)
        if bundle.fixed:
            nodes = {node.rank for cell in self.cells(level, name) for node in cell.nodes}
            return sum(mask.bit_count() for node, mask in self.layout.fixed[bundle].items() if node in nodes)
        if key not in self._most:
            piece = bundle.whole(level)
            room = min(self.together([bundle], level, name), bundle.most * bundle.unit, self._share(bundle, level))
            self._most[key] = room // piece * piece
        return self._most[key]

    def together(self, bundles: Sequence[Bundle], level: str, name: str) -> int:
        """Most resources that bundles of one pool can have together in the domain."""
        pool, found = self.layout.pool_of[bundles[0]], 0
        for cell in self.cells(level, name):
            units = [bundle.unit for bundle in bundles if cell.nodes[0].rank in self.layout.eligible[bundle]]
            if units:
                size = gcd(*units)
                found += size * self._pieces(cell, pool, size)
        return found

    def _pieces(self, cell: Cell, pool: Pool, size: int) -> int:
        key = (cell.index, pool, size)
        if key not in self._capacity:
            self._capacity[key] = self.layout.capacity(cell, pool, size)
        return self._capacity[key]

    def _share(self, bundle: Bundle, level: str) -> int:
        """What the spread over failure domains lets one domain of the level hold."""
        found = bundle.most * bundle.unit
        for component in bundle.components:
            groups = min(component.most, found) // component.group_size
            for spread in component.spread:
                if spread.level == level:
                    found = min(found, -(-groups * spread.percent // 100) * component.group_size)
        return found


_ROOMS: WeakKeyDictionary[Layout, Rooms] = WeakKeyDictionary()


def rooms_of(layout: Layout) -> Rooms:
    """The capacities of a layout, counted once."""
    if layout not in _ROOMS:
        _ROOMS[layout] = Rooms(layout)
    return _ROOMS[layout]
