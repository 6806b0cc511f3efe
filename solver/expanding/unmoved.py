"""Unmoved groups of a previous answer, and rank orders that keep them."""

from __future__ import annotations

from collections import Counter
from math import lcm
from typing import Mapping, Sequence

from ...models.component import WHOLE
from ...models.machines.topology import LEVELS, domain
from ...models.placements.assignment import Seat
from ..layout.bundle import Bundle, size_of
from ..layout.cells import Cell
from ..layout.layout import Count, Layout, Values
from ..layout.parts import bits
from ..layout.pools import NodePool
from ..layout.previous import Piece, Pieces, overlap, survivors
from ..layout.ranks import order_by_rank
from ..objectives.moves import holdings
from .counts import ExpansionFailed, FreeResources, assign_counts

Unit = tuple[Seat, ...]
Place = tuple[str, ...]
"""Domains of a unit, one per level on which groups are kept together."""
UnmovedPieces = dict[Bundle, list[Piece]]
"""Unmoved groups of each bundle."""
Counts = dict[Bundle, list[tuple[Cell, int]]]
"""Number of units of each bundle per cell."""


# -- which groups stay


def unmoved_groups(layout: Layout, pool: NodePool, values: Values, free: Mapping[int, int]) -> UnmovedPieces:
    """Return the groups that stay, node by node; all remaining units fit beside them.

    `free` is what the contiguous bundles of the pool leave. The numbers are maximal for these
    values.
    """
    groups: UnmovedPieces = {}
    old = {bundle: survivors(layout.problem, bundle.components) for bundle in pool.bundles}
    for cell, previous in ((cell, previous) for owner, cell, previous in holdings(layout) if owner is pool):
        node = cell.nodes[0].rank
        counts = {bundle: values.get(Count(bundle, cell), 0) for bundle in pool.counted}
        demand = {bundle: count for bundle, count in counts.items() if isinstance(count, int) and count}
        candidates: UnmovedPieces = {}
        for bundle in (bundle for bundle in previous if bundle in demand):
            usable = free.get(node, 0) | layout.enclosed.get(bundle, {}).get(node, 0)
            free_pieces = [piece for piece in previous[bundle] if not piece[1] & ~usable]
            candidates[bundle] = _likely_first(free_pieces, old[bundle], blocks(bundle)[0])
        for bundle, pieces in _OneNode(layout, pool, cell, free.get(node, 0), demand).best(candidates).items():
            groups.setdefault(bundle, []).extend(pieces)
    return groups


def _likely_first(candidates: Sequence[Piece], old: Pieces, block: int) -> list[Piece]:
    """Sort pieces: those of replicas with most units here first, then lowest ranks."""
    company = Counter(old.at[piece] // block for piece in candidates)
    return sorted(candidates, key=lambda piece: (-company[old.at[piece] // block], old.at[piece]))


def find_enclosed_beside(layout: Layout, groups: UnmovedPieces) -> dict[Bundle, dict[int, int]]:
    """Return explicit resources within searched bundles, without unmoved groups.

    Bundle -> node rank -> bit mask.
    """
    remaining = {bundle: dict(masks) for bundle, masks in layout.enclosed.items()}
    for bundle in remaining.keys() & groups.keys():
        for node, mask in groups[bundle]:
            remaining[bundle][node] = remaining[bundle].get(node, 0) & ~mask
    return remaining


def without_unmoved(counts: Counts, groups: UnmovedPieces, layout: Layout) -> Counts:
    """Subtract the unmoved units from the counts."""
    remaining: Counts = {}
    for bundle, cell_counts in counts.items():
        unmoved_in = Counter(layout.cell_of[node].index for node, _ in groups.get(bundle, ()))
        remaining[bundle] = [(cell, count - unmoved_in[cell.index]) for cell, count in cell_counts]
    return remaining


class _OneNode:
    """Search for the most unmoved pieces of a node, beside the units `asked` for."""

    def __init__(self, layout: Layout, pool: NodePool, cell: Cell, free: int, demand: Mapping[Bundle, int]) -> None:
        self.layout, self.pool, self.cell, self.free, self.asked = layout, pool, cell, free, demand

    def best(self, candidates: UnmovedPieces) -> UnmovedPieces:
        """Return the most of the previous pieces that can stay."""
        every = {bundle: pieces[: self.asked[bundle]] for bundle, pieces in candidates.items()}
        return every if self._fits(every) else self._try_all([(bundle, piece) for bundle, pieces in candidates.items() for piece in pieces])

    def _fits(self, groups: UnmovedPieces) -> bool:
        """Check that the remaining units fit beside the unmoved pieces."""
        staying = [piece for pieces in groups.values() for piece in pieces]
        if overlap(staying):
            return False
        free = self.free & ~sum(mask for _, mask in staying)
        remaining = {bundle: [(self.cell, count - len(groups.get(bundle, ())))] for bundle, count in self.asked.items()}
        try:
            resources = FreeResources({self.cell.nodes[0].rank: free}, {bundle: {} for bundle in remaining})
            assign_counts(self.pool, remaining, resources, find_enclosed_beside(self.layout, groups))
        except ExpansionFailed:
            return False
        return True

    def _try_all(self, every: Sequence[tuple[Bundle, Piece]]) -> UnmovedPieces:
        """Return the largest set of these pieces that can stay, by enumeration."""
        best: list[tuple[Bundle, Piece]] = []

        def extend(position: int, selection: list[tuple[Bundle, Piece]], mask: int) -> None:
            nonlocal best
            if len(selection) > len(best) and self._fits(_group_by_bundle(selection)):
                best = selection
            if position == len(every) or len(selection) + len(every) - position <= len(best):
                return
            bundle, piece = every[position]
            if not piece[1] & mask and sum(holder is bundle for holder, _ in selection) < self.asked[bundle]:
                extend(position + 1, [*selection, (bundle, piece)], mask | piece[1])
            extend(position + 1, selection, mask)

        extend(0, [], 0)
        return _group_by_bundle(best)


def _group_by_bundle(pairs: Sequence[tuple[Bundle, Piece]]) -> UnmovedPieces:
    by_bundle: UnmovedPieces = {}
    for bundle, piece in pairs:
        by_bundle.setdefault(bundle, []).append(piece)
    return by_bundle


# -- rank orders that keep numbers


def were_ranked(layout: Layout, bundle: Bundle) -> bool:
    """Return True with a previous answer and an open order of units."""
    return layout.problem.previous is not None and not (bundle.fixed or bundle.contiguous)


def order_ranks(layout: Layout, bundle: Bundle, masks: Mapping[int, int]) -> list[Seat]:
    """Return a bundle's resources in rank order; `masks` maps node ranks to bit masks.

    A unit that stays keeps its number if the required domains allow it; other units fill the
    remaining numbers. If nodes must ascend with the ranks, or groups are kept together by
    preference, the nodes decide as without a previous answer: units keep their resources but not
    their numbers.
    """
    units = _units(bundle, masks, survivors(layout.problem, bundle.components))
    has_preference = any(not keep.required and keep.unit != WHOLE for component in bundle.components for keep in component.keep)
    if layout.problem.job.capabilities.nodes_in_order or has_preference:
        seats_on: dict[int, list[Seat]] = {}
        for _, unit in units:
            seats_on.setdefault(unit[0][0], []).extend(unit)
        return [seats_on[node].pop(0) for node, _ in order_by_rank(layout, bundle, masks)]
    return [seat for unit in _Numbering(layout, units, *blocks(bundle)).fill() for seat in unit]


def _units(bundle: Bundle, masks: Mapping[int, int], old: Pieces) -> list[tuple[int | None, Unit]]:
    """Return (previous number or None, resources) node by node, unmoved units first."""
    old_units: dict[int, list[tuple[int, int]]] = {}
    for (node, mask), number in old.at.items():
        if not mask & ~masks.get(node, 0):
            old_units.setdefault(node, []).append((number, mask))
    units: list[tuple[int | None, Unit]] = []
    is_single = len(bundle.components) == 1
    for node, mask in sorted(masks.items()):
        for number, unit in sorted(old_units.get(node, ())):
            # Components on the same resources have their own order inside a unit.
            units.append((number, tuple(old.seats((node, unit)) if is_single else ((node, index) for index in bits(unit)))))
            mask &= ~unit
        free_seats = [(node, index) for index in bits(mask)]
        units += [(None, tuple(free_seats[start : start + bundle.unit])) for start in range(0, len(free_seats), bundle.unit)]
    return units


def blocks(bundle: Bundle) -> tuple[int, tuple[str, ...]]:
    """Return (consecutive units that must share a domain, levels of the domains)."""
    keeps = [(component, keep) for component in bundle.components for keep in component.keep if keep.required and keep.unit != WHOLE]
    above = [(component, keep) for component, keep in keeps if keep.level in LEVELS]
    size = lcm(bundle.unit, *(size_of(component, keep) for component, keep in above))
    return size // bundle.unit, tuple(dict.fromkeys(keep.level for _, keep in above))


class _Numbering:
    """Units in rank order, block by block: units with fixed numbers, free units by place."""

    def __init__(self, layout: Layout, units: Sequence[tuple[int | None, Unit]], block: int, levels: tuple[str, ...]) -> None:
        self.nodes, self.block, self.levels = layout.problem.cluster.nodes, block, levels
        self.fixed: list[Unit | None] = [None] * len(units)
        self.free: dict[Place, list[Unit]] = {}
        for number, unit in units:
            if number is not None and number < len(units):
                self.fixed[number] = unit
            else:
                self.free.setdefault(self._place(unit), []).append(unit)

    def _place(self, unit: Unit) -> Place:
        return tuple(domain(self.nodes[unit[0][0]], level) for level in self.levels)

    def fill(self) -> list[Unit]:
        """Return all units in rank order."""
        starts = range(0, len(self.fixed), self.block)
        best = {start: self._common_place(start) for start in starts}
        # Blocks that lack the fewest units come first, so that as few as possible are broken up.
        for start in sorted(starts, key=lambda start: (self._lack(start), start)):
            self._complete(start, best[start])
        for start in starts:
            if self._lack(start):
                size = len(self.fixed[start : start + self.block])
                self._complete(start, next((place for place, units in self.free.items() if len(units) >= size), None))
        remaining = iter([unit for units in self.free.values() for unit in units])
        return [next(remaining) if member is None else member for member in self.fixed]

    def _common_place(self, start: int) -> Place | None:
        """Return the most frequent place of a block; units elsewhere lose their numbers."""
        members = [(number, unit) for number, unit in enumerate(self.fixed[start : start + self.block], start) if unit is not None]
        places = [self._place(unit) for _, unit in members]
        best = max(sorted(set(places)), key=places.count, default=None)
        for (number, unit), place in zip(members, places):
            if place != best:
                self.free.setdefault(place, []).append(unit)
                self.fixed[number] = None
        return best

    def _lack(self, start: int) -> int:
        return self.fixed[start : start + self.block].count(None)

    def _complete(self, start: int, best: Place | None) -> None:
        """Fill a block with units of its place. With too few, its units lose their numbers."""
        lack = self._lack(start)
        if best is None or not lack:
            return
        members, units = self.fixed[start : start + self.block], self.free.setdefault(best, [])
        if len(units) < lack:
            units += [unit for unit in members if unit is not None]
            self.fixed[start : start + self.block] = [None] * len(members)
        else:
            self.fixed[start : start + self.block] = [units.pop(0) if unit is None else unit for unit in members]
