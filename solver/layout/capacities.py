"""Capacities of topology domains for the searched bundles of a layout."""

from __future__ import annotations

from math import gcd
from typing import Sequence
from weakref import WeakKeyDictionary

from .bundle import Bundle
from .layout import Layout

_ROOMS: WeakKeyDictionary[Layout, DomainCapacities] = WeakKeyDictionary()


class DomainCapacities:
    """Capacities of domains for the searched bundles of a layout.

    All are upper bounds on the resources of an answer there.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._most: dict[tuple[Bundle, str, str], int] = {}

    def names(self, level: str) -> Sequence[str]:
        """Return the domains of a level."""
        return list(self.layout.domains(level))

    def most(self, bundle: Bundle, level: str, name: str) -> int:
        """Return the most resources of the bundle in the domain, placed alone."""
        key = (bundle, level, name)
        if bundle.fixed:
            nodes = {node.rank for cell in self.layout.domains(level).get(name, ()) for node in cell.nodes}
            return sum(mask.bit_count() for node, mask in self.layout.fixed[bundle].items() if node in nodes)
        if key not in self._most:
            piece = bundle.whole(level)
            limit = min(self.together([bundle], level, name), bundle.most * bundle.unit, self._share(bundle, level))
            self._most[key] = limit // piece * piece
        return self._most[key]

    def together(self, bundles: Sequence[Bundle], level: str, name: str) -> int:
        """Return the most resources of bundles of the same pool in the domain."""
        pool, capacity = self.layout.pool_of[bundles[0]], 0
        for cell in self.layout.domains(level).get(name, ()):
            present = [bundle for bundle in bundles if cell.nodes[0].rank in self.layout.eligible[bundle]]
            if present:
                size = gcd(*(bundle.unit for bundle in present))
                inner_count = sum(self.layout.count_enclosed(bundle, cell) for bundle in present)
                free = self.layout.room(cell, pool)
                capacity += size * ((free.pieces(1) + inner_count) // size if inner_count else free.pieces(size))
        return capacity

    def _share(self, bundle: Bundle, level: str) -> int:
        """Return the bundle's limit per domain of the level, from demands to spread."""
        limit = most = bundle.most * bundle.unit
        for component in bundle.components:
            groups = min(component.most, most) // component.group_size
            for spread in component.spread:
                if spread.level == level:
                    limit = min(limit, -(-groups * spread.percent // 100) * component.group_size)
        return limit


def rooms_of(layout: Layout) -> DomainCapacities:
    """Return the capacities of a layout, computed once."""
    if layout not in _ROOMS:
        _ROOMS[layout] = DomainCapacities(layout)
    return _ROOMS[layout]
