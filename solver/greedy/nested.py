"""A first answer without a solver where bundles may use the resources of a node only in part, or ranges lie within what is counted."""

from __future__ import annotations

from functools import reduce
from operator import or_

from ..expanding.dealing import deal
from ..layout.amounts import allowed
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.masks import lowest
from ..layout.ranges.places import Places, lengths, longest_free
from ..layout.reach import eligible, within_reach
from ..layout.values import Values


def nested(layout: Layout, stretch: bool) -> Values | None:
    """Decision values that are likely good, or None where this simple way finds none. Whoever uses them must check them.

    Ranges first, those first that have the least to choose from; then what is counted, what lies within others before these.
    """
    its = _Nested(layout, stretch)
    return its.values if its.place() else None


class _Nested:
    """What is placed by now, resource by resource."""

    def __init__(self, layout: Layout, stretch: bool) -> None:
        self.layout, self.stretch, self.values = layout, stretch, Values()
        self.held: dict[Bundle, dict[int, int]] = {}

    def place(self) -> bool:
        """Place all bundles; False where one finds no place."""
        order = sorted(self.layout.searched, key=lambda each: (self._room(each), -each.unit * each.least))
        ranges = sorted((each for each in order if each.contiguous), key=lambda each: self._in_ranges(each))
        counted = sorted((each for each in order if not each.contiguous), key=lambda each: -len(self.layout.hosts[each]))
        found = all(map(self._range, ranges)) and all(map(self._counted, counted))
        if found:
            deal(self.layout, self.values)
        return found

    def _room(self, bundle: Bundle) -> int:
        return sum(mask.bit_count() for mask in self.layout.pool_of[bundle].free.values())

    def _in_ranges(self, bundle: Bundle) -> int:
        return sum(host.contiguous for host in self.layout.hosts[bundle])

    def _free(self, bundle: Bundle) -> dict[int, int]:
        """What it may use that nothing holds but what it lies within, or what lies within it; of a range that it lies within only that."""
        hosts, pool = self.layout.hosts, self.layout.pool_of[bundle]
        strange = [its for other, its in self.held.items() if other not in hosts[bundle] and bundle not in hosts[other]]
        free = {node: mask & ~reduce(or_, (its.get(node, 0) for its in strange), 0) for node, mask in pool.free.items()}
        for around in (self.held[host] for host in hosts[bundle] if host.contiguous and host in self.held):
            free = {node: mask & around.get(node, 0) for node, mask in free.items()}
        return free

    def _range(self, bundle: Bundle) -> bool:
        free = within_reach(self.layout, bundle, self._free(bundle))
        places, longest = Places(self.layout, bundle, free), longest_free(self.layout, bundle, free)
        tried = [units for units in lengths(self.layout, bundle) if units <= longest]
        place = next(filter(None, map(places.best_free, tried[::-1] if self.stretch else tried[:1])), None)
        if place is None:
            return False
        self.values[bundle], held = place, self.held.setdefault(bundle, {})
        for piece, first, count in places.numbering.pieces(place[0], place[0] + place[1] * bundle.unit):
            held[piece.node_rank] = held.get(piece.node_rank, 0) | ((1 << count) - 1) << first
        return True

    def _counted(self, bundle: Bundle) -> bool:
        """On nodes where something lies within it, as much as that needs at least; then where there is most room."""
        unit, free = bundle.unit, self._free(bundle)
        cells = {cell.nodes[0].rank: cell for cell in eligible(self.layout, bundle) if len(cell.nodes) == 1}
        inner = [its for other, its in self.held.items() if bundle in self.layout.hosts[other]]
        inside = {node: reduce(or_, (its.get(node, 0) for its in inner), 0) for node in cells}
        most = {node: free.get(node, 0).bit_count() // unit for node in cells}
        counts = {node: -(-mask.bit_count() // unit) for node, mask in inside.items()}
        fit = [units for units in allowed(self.layout, bundle, sum(most.values())) if units >= sum(counts.values())]
        if not fit:
            return False
        left = (fit[-1] if self.stretch and bundle.bounded else fit[0]) - sum(counts.values())
        for node in sorted(cells, key=lambda each: (not inside[each], -most[each], each)):
            more = max(0, min(left, most[node] - counts[node]))
            counts[node], left = counts[node] + more, left - more
        self.held[bundle] = {
            node: inside[node] | lowest(free.get(node, 0) & ~inside[node], count * unit - inside[node].bit_count())
            for node, count in counts.items()
        }
        index = {cell: node for node, cell in cells.items()}
        its = [each for each in self.layout.counts if each.bundle is bundle]
        self.values.update({each: counts.get(index.get(each.cell, -1), 0) for each in its})
        return left == 0
