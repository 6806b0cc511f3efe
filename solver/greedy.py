"""A first answer without a solver: the largest units first, each bundle in as few racks as it can."""

from __future__ import annotations

from .layout import Bundle, Cell, Count, Layout, Values
from .objectives.domains_touched import LEVEL
from .places import Places, lengths
from .reach import eligible


def greedy(layout: Layout) -> Values | None:
    """Decision values that are likely good, or None where this simple way finds none. Whoever uses them must check them.

    Components with a range of amounts get as much as there is; if then something finds no place, as little as they ask for.
    """
    return _values(layout, stretch=True) or _values(layout, stretch=False)


def _values(layout: Layout, stretch: bool) -> Values | None:
    free = dict(layout.free)
    values: Values = {}
    for bundle in sorted(layout.ranged, key=lambda each: -each.unit * each.least):
        places, tried = Places(layout, bundle, free), lengths(layout, bundle)
        # The largest that may be, on the fewest nodes, at the lowest ranks.
        place = next(filter(None, map(places.best_free, tried[::-1] if stretch else tried[:1])), None)
        if place is None:
            return None
        values[bundle] = place
        for piece, first, count in places.numbering.pieces(place[0], place[0] + place[1] * bundle.unit):
            free[piece.node_rank, bundle.kind] &= ~(((1 << count) - 1) << first)
    room = {(node, kind): mask.bit_count() for (node, kind), mask in free.items()}
    for bundle in sorted(layout.counted, key=lambda each: (-each.unit, len(eligible(layout, each)))):
        counts = _place(layout, bundle, room, bundle.most if stretch and bundle.bounded else bundle.least)
        if sum(counts.values()) < bundle.least:
            return None
        values.update({Count(bundle, cell): counts.get(cell, 0) for cell in layout.cells})
    return values


def _place(layout: Layout, bundle: Bundle, room: dict[tuple[int, str], int], wanted: int) -> dict[Cell, int]:
    """How many of the wanted units go into which cell; takes them out of `room`."""
    racks: dict[str, list[Cell]] = {}
    for cell in eligible(layout, bundle):
        racks.setdefault(cell.domain(LEVEL), []).append(cell)
    space = {name: sum(_fit(room, bundle, cell) for cell in cells) for name, cells in racks.items()}
    left, counts = wanted, dict[Cell, int]()
    while left and racks:
        # The smallest rack that holds all that is left; else the roomiest one.
        enough = [name for name in racks if space[name] >= left]
        name = min(enough, key=lambda each: space[each]) if enough else max(racks, key=lambda each: space[each])
        for cell in racks.pop(name):
            for node in cell.nodes:
                take = min(left, room[node.rank, bundle.kind] // bundle.unit)
                room[node.rank, bundle.kind] -= take * bundle.unit
                counts[cell] = counts.get(cell, 0) + take
                left -= take
    return counts


def _fit(room: dict[tuple[int, str], int], bundle: Bundle, cell: Cell) -> int:
    return sum(room[node.rank, bundle.kind] // bundle.unit for node in cell.nodes)
