"""Warm start near the previous answer, without a solver: keep groups, refill the rest."""

from __future__ import annotations

from typing import Iterator

from .layout.bundle import Bundle
from .layout.cells import Cell
from .layout.layout import Layout, Values, allowed, eligible, within_reach
from .layout.pools import NodePool
from .layout.ranges import Place, Places, lengths, whole_places
from .objectives.moves import Piece, kept_by_place, movable, survivors

NODE_WIDE = ""
"""Level of bundles without a domain requirement."""


def warm_start(layout: Layout) -> Values | None:
    """Return likely decision values near the previous answer, unchecked; None on failure."""
    if layout.problem.previous is None or layout.enclosed or any(pool.host is not None for pool in layout.pools):
        return None
    values: Values = {}
    for pool in layout.pools:
        free = dict(pool.free)
        for bundle in sorted((bundle for bundle in pool.bundles if bundle.contiguous), key=lambda bundle: -bundle.unit * bundle.least):
            place = _place(layout, bundle, free)
            if place is None:
                return None
            values[bundle] = place
            for stretch, first, count in layout.numbering(bundle).pieces(place[0], place[0] + place[1] * bundle.unit):
                free[stretch.node_rank] &= ~(((1 << count) - 1) << first)
        if not _Counting(layout, pool, free).count(values):
            return None
    return values


def _place(layout: Layout, bundle: Bundle, free: dict[int, int]) -> Place | None:
    """Return the free place that keeps most groups: longest, most kept, fewest nodes."""
    places, kept_groups = Places(layout, bundle, within_reach(layout, bundle, free)), kept_by_place(layout, bundle)
    numbering, longest = layout.numbering(bundle), max(lengths(layout, bundle), default=0)
    fit = (place for place in whole_places(layout, bundle) if places.is_free(place[0], place[0] + place[1] * bundle.unit))

    def worth(place: Place) -> tuple[int, int, int, int]:
        nodes = len(numbering.covered(place[0], place[0] + place[1] * bundle.unit))
        return (longest - place[1], -kept_groups(place), nodes, place[0])

    return min(fit, key=worth, default=None)


class _Counting:
    """Greedy placement of a pool's counted bundles: capacity per node, counts per cell."""

    def __init__(self, layout: Layout, pool: NodePool, free: dict[int, int]) -> None:
        self.layout, self.free = layout, free
        self.room = {node.rank: free.get(node.rank, 0).bit_count() for node in layout.problem.cluster.nodes}
        self.bundles = sorted((bundle for bundle in pool.bundles if not bundle.contiguous), key=lambda bundle: -bundle.unit)
        self.counts: dict[Bundle, dict[Cell, int]] = {bundle: {} for bundle in self.bundles}
        self.stays: dict[Bundle, list[Piece]] = {}

    def count(self, values: Values) -> bool:
        """Place all bundles; False if a bundle does not fit."""
        seen: dict[int, int] = {}
        wanted: dict[Bundle, int] = {}
        for bundle in self.bundles:
            self.stays[bundle] = [piece for piece in self._before(bundle) if not piece[1] & ~self.free.get(piece[0], 0)]
            amount = self._wanted(bundle)
            if amount is None:
                return False
            wanted[bundle] = amount
            self.stays[bundle] = [piece for piece in self.stays[bundle] if not piece[1] & seen.get(piece[0], 0)][:amount]
            for node, mask in self.stays[bundle]:
                seen[node] = seen.get(node, 0) | mask
                self._put(bundle, node, 1)
        if min(self.room.values(), default=0) < 0 or not all(self._complete(bundle, wanted[bundle]) for bundle in self.bundles):
            return False
        decided = (decision for decision in self.layout.counts if decision.bundle in self.counts)
        values.update({decision: self.counts[decision.bundle].get(decision.cell, 0) for decision in decided})
        return True

    def _before(self, bundle: Bundle) -> Iterator[Piece]:
        """Yield groups of a bundle that could stay, lowest ranks first."""
        if bundle.components in movable(self.layout.problem):
            nodes = self.layout.eligible[bundle]
            survivor_ranks = survivors(self.layout.problem, bundle.components).at
            yield from (piece for piece in sorted(survivor_ranks, key=survivor_ranks.__getitem__) if piece[0] in nodes)

    def _wanted(self, bundle: Bundle) -> int | None:
        """Return the target number of units: the most of a bounded range, else the fewest."""
        nodes = (node for cell in eligible(self.layout, bundle) for node in cell.nodes)
        capacity = sum(self.free.get(node.rank, 0).bit_count() // bundle.unit for node in nodes)
        fit = allowed(self.layout, bundle, capacity)
        return None if not fit else fit[-1] if bundle.bounded else max(fit[0], min(fit[-1], len(self.stays[bundle])))

    def _put(self, bundle: Bundle, node: int, count: int) -> None:
        self.room[node] -= count * bundle.unit
        cell = self.layout.cell_of[node]
        self.counts[bundle][cell] = self.counts[bundle].get(cell, 0) + count

    def _complete(self, bundle: Bundle, wanted: int) -> bool:
        """Complete the domains' whole blocks or give them up; then place the missing units."""
        sizes = ((level, size // bundle.unit) for level, size in bundle.wholes)
        level, block = max(sizes, key=lambda pair: pair[1], default=(NODE_WIDE, 1))
        domains: dict[str, list[Cell]] = {}
        for cell in eligible(self.layout, bundle):
            domains.setdefault(cell.domain(level) if level else cell.domain("rack"), []).append(cell)
        missing = wanted - sum(self.counts[bundle].values())
        for cells in domains.values():
            odd = sum(self.counts[bundle].get(cell, 0) for cell in cells) % block
            if odd and missing >= block - odd and self._fill(bundle, cells, block - odd):
                missing -= block - odd
            elif odd:
                self._give_up(bundle, cells, odd)
                missing += odd
        while missing > 0:
            cells = self._best(bundle, domains, block, missing)
            if not cells or missing < block:
                return False
            take = min(missing, self._fit(bundle, cells)) // block * block
            self._fill(bundle, cells, take)
            missing -= take
        return True

    def _best(self, bundle: Bundle, domains: dict[str, list[Cell]], block: int, missing: int) -> list[Cell]:
        """Return the next domain to fill: one that holds the bundle, then the largest."""
        fit = [(cells, min(self._fit(bundle, cells), missing)) for cells in domains.values()]
        fit = [(cells, capacity) for cells, capacity in fit if capacity >= block]
        occupied = [any(self.counts[bundle].get(cell) for cell in cells) for cells, _ in fit]
        best = max(range(len(fit)), key=lambda number: (occupied[number], fit[number][1], -number), default=None)
        return [] if best is None else fit[best][0]

    def _fit(self, bundle: Bundle, cells: list[Cell]) -> int:
        return sum(self.room[node.rank] // bundle.unit for cell in cells for node in cell.nodes)

    def _fill(self, bundle: Bundle, cells: list[Cell], count: int) -> bool:
        """Place units, fullest nodes first; False and no change without enough capacity."""
        if self._fit(bundle, cells) < count:
            return False
        nodes = sorted((node.rank for cell in cells for node in cell.nodes), key=lambda node: (self.room[node], node))
        for node in nodes:
            take = min(count, self.room[node] // bundle.unit)
            if take > 0:
                self._put(bundle, node, take)
                count -= take
        return True

    def _give_up(self, bundle: Bundle, cells: list[Cell], count: int) -> None:
        """Release units of the cells, highest ranks first."""
        nodes = {node.rank for cell in cells for node in cell.nodes}
        for piece in [piece for piece in reversed(self.stays[bundle]) if piece[0] in nodes][:count]:
            self.stays[bundle].remove(piece)
            self._put(bundle, piece[0], -1)
