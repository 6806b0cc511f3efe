"""A first answer without a solver: the largest units first, each bundle in as few racks as it can."""

from __future__ import annotations

from ..expanding.dealing import deal
from ..layout.amounts import allowed
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pool import Masks, Pool
from ..layout.ranges.places import Places, lengths, longest_free
from ..layout.reach import eligible, within_reach
from ..layout.values import Values
from ..replanning.stay import stay
from .fill import Filling
from .nested import nested


def greedy(layout: Layout) -> Values | None:
    """Decision values that are likely good, or None where this simple way finds none. Whoever uses them must check them.

    Components with a range of amounts get as much as there is; if then something finds no place, as little as they ask for.
    Where there is a previous answer, as much as can be stays where it was.
    """
    if layout.shared:
        return nested(layout, stretch=True) or nested(layout, stretch=False)
    if (near := stay(layout)) is not None:
        return near
    stretched = _values(layout, stretch=True)
    return _values(layout, stretch=False) if stretched is None else stretched


def _values(layout: Layout, stretch: bool) -> Values | None:
    values: Values = {}
    for pool in layout.pools:
        free = dict(pool.free if pool.host is None else _held(layout, pool.host, values))
        if not _place_pool(layout, pool, free, stretch, values):
            return None
    deal(layout, values)
    return values


def _held(layout: Layout, host: Bundle, values: Values) -> Masks:
    """What a placed bundle holds on every node; of a counted one on nodes of their own only the number is right."""
    place = values.get(host)
    if isinstance(place, tuple):
        pieces = layout.numbering(host).pieces(place[0], place[0] + place[1] * host.unit)
        return {stretch.node_rank: ((1 << count) - 1) << first for stretch, first, count in pieces}
    counts = {count.cell.nodes[0].rank: values[count] for count in layout.counts if count.bundle is host}
    return {node: (1 << count * host.unit) - 1 for node, count in counts.items() if isinstance(count, int)}


def _place_pool(layout: Layout, pool: Pool, free: dict[int, int], stretch: bool, values: Values) -> bool:
    """Place all bundles of a pool, the contiguous ones first; False where one finds no place."""
    for bundle in sorted((each for each in pool.bundles if each.contiguous), key=lambda each: -each.unit * each.least):
        places, longest = Places(layout, bundle, within_reach(layout, bundle, free)), longest_free(layout, bundle, free)
        tried = [units for units in lengths(layout, bundle) if units <= longest]
        # The largest that may be, on the fewest nodes, at the lowest ranks.
        place = next(filter(None, map(places.best_free, tried[::-1] if stretch else tried[:1])), None)
        if place is None:
            return False
        values[bundle] = place
        for piece, first, count in places.numbering.pieces(place[0], place[0] + place[1] * bundle.unit):
            free[piece.node_rank] &= ~(((1 << count) - 1) << first)
    room = {node: mask.bit_count() for node, mask in free.items()}
    counted = [bundle for bundle in pool.bundles if not bundle.contiguous]
    for bundle in sorted(counted, key=lambda each: (-_largest(each), -each.unit, len(eligible(layout, each)))):
        filling = Filling(layout, bundle, room)
        fit = allowed(layout, bundle, filling.space)
        if not fit:
            return False
        counts = filling.place(fit[-1] if stretch and bundle.bounded else fit[0])
        values.update({count: counts.get(count.cell, 0) for count in layout.counts if count.bundle is bundle})
    return True


def _largest(bundle: Bundle) -> int:
    """What is hardest to place of a bundle: the largest group that some domain holds whole."""
    return max((size for _, size in bundle.wholes), default=bundle.unit)
