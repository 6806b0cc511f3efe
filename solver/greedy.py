"""Greedy first answer without a solver: largest units first, in few domains."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from types import MappingProxyType
from typing import Mapping, Sequence

from ..models.component import UNBOUNDED
from ..models.machines.topology import LEVELS
from .expanding.expand import with_even_counts
from .expanding.unmoved import blocks
from .layout.bundle import Bundle
from .layout.cells import Cell
from .layout.layout import Layout, Values, eligible, list_allowed, reach_free
from .layout.pools import Masks, NodePool
from .layout.previous import movable, survivors
from .layout.ranges import Place, Places, lengths, longest_free, whole_places
from .objectives.counts import MissingAccelerators, most_even, open_sets, range_of, weight_of
from .objectives.moves import count_kept_by_place

Room = dict[int, int]
"""Node rank -> number of free resources."""


class Filling:
    """Greedy placement of a counted bundle, domain inside domain."""

    def __init__(self, layout: Layout, bundle: Bundle, headroom: Room) -> None:
        self._bundle, self._room = bundle, headroom
        self._cells = eligible(layout, bundle)
        self._many = {level: bundle.whole(level) // bundle.unit for level in LEVELS}
        self._levels = tuple(level for level in LEVELS if len(layout.domains(level)) > 1)
        self.space = self._space(self._cells, self._levels)

    def _domains(self, cells: Sequence[Cell], level: str) -> list[list[Cell]]:
        by_domain: dict[str, list[Cell]] = {}
        for cell in cells:
            by_domain.setdefault(cell.domain(level), []).append(cell)
        return list(by_domain.values())

    def _space(self, cells: Sequence[Cell], levels: Sequence[str]) -> int:
        """Return the capacity of the cells in units, in whole groups of every level."""
        if not levels:
            return sum(self._room.get(node.rank, 0) // self._bundle.unit for cell in cells for node in cell.nodes)
        level, narrower = levels[0], levels[1:]
        many = self._many[level]
        return sum(self._space(domain_cells, narrower) // many * many for domain_cells in self._domains(cells, level))

    def place(self, units: int, counts: dict[Cell, int]) -> None:
        """Add the wanted units to the counts per cell.

        Takes their resources out of the room. Whole groups of the widest level that `counts` holds
        in part are completed or given up.
        """
        for number, level in enumerate(self._levels if counts else ()):
            if self._many[level] > 1:
                for cells in self._domains(self._cells, level):
                    units -= self._complete(cells, self._levels[number + 1 :], self._many[level], units, counts)
                break
        self._take(self._cells, self._levels, units, self._shares(units), counts)

    def _complete(self, cells: Sequence[Cell], levels: Sequence[str], many: int, most: int, counts: dict[Cell, int]) -> int:
        """Complete the last group of a domain or give it up; return the units added."""
        odd = remaining = sum(counts.get(cell, 0) for cell in cells) % many
        if not odd or many - odd <= min(most, self._space(cells, levels)):
            return self._take(cells, levels, many - odd, {}, counts) if odd else 0
        for cell in (cell for cell in reversed(counts) if cell in cells):  # what stays is counted on single nodes
            back = min(remaining, counts[cell])
            remaining, counts[cell] = remaining - back, counts[cell] - back
            self._room[cell.nodes[0].rank] += back * self._bundle.unit
        return -odd

    def _shares(self, units: int) -> dict[str, int]:
        """Return level -> limit of units per domain, from the demands to spread."""
        limits: dict[str, int] = {}
        for component in self._bundle.components:
            groups = units * self._bundle.unit // component.group_size
            for spread in component.spread:
                share = -(-groups * spread.percent // 100) * component.group_size // self._bundle.unit
                limits[spread.level] = min(share, limits.get(spread.level, units))
        return limits

    def _fewest(self, level: str) -> int:
        """Return the fewest domains demanded by `spread`."""
        spreads = (spread for component in self._bundle.components for spread in component.spread)
        return max((spread.domains for spread in spreads if spread.level == level), default=1)

    def _take(self, cells: Sequence[Cell], levels: Sequence[str], units: int, shares: dict[str, int], counts: dict[Cell, int]) -> int:
        """Place up to this number of units in the cells; return the number placed."""
        remaining = units
        if not levels:
            for cell in cells:
                for node in cell.nodes:
                    if count := min(remaining, self._room.get(node.rank, 0) // self._bundle.unit):
                        self._room[node.rank] -= count * self._bundle.unit
                        counts[cell] = counts.get(cell, 0) + count
                        remaining -= count
            return units - remaining
        level, narrower, many = levels[0], levels[1:], self._many[levels[0]]
        share, fewest = shares.get(level, units), self._fewest(level)
        waiting: list[tuple[bool, int, list[Cell]]] = []
        for domain_cells in self._domains(cells, level):
            space = min(self._space(domain_cells, narrower), share) // many * many
            waiting.append((any(map(counts.get, domain_cells)), space, domain_cells))
        while remaining >= many and waiting:
            fewest = max(fewest - 1, 0)
            most = max(remaining - fewest * many, many)  # the rest is for the domains still demanded
            # Best fit: the smallest domain with space for the rest, else the largest; those in use first.
            enough = [number for number, (_, space, _) in enumerate(waiting) if space >= remaining]
            if enough:
                number = min(enough, key=lambda candidate: (not waiting[candidate][0], waiting[candidate][1]))
            else:
                number = max(range(len(waiting)), key=lambda candidate: waiting[candidate][:2])
            _, space, domain_cells = waiting.pop(number)
            remaining -= self._take(domain_cells, narrower, min(most, space) // many * many, shares, counts)
        return units - remaining


def greedy(layout: Layout) -> Values | None:
    """Return greedy decision values; None without success.

    The caller must check the values. Components with a range of amounts first get as much as there
    is; if a component then has no place, they get their least amounts. With a previous answer, as
    much as possible stays in place.
    """
    if layout.shared:
        return None  # counts alone do not say what fits
    may_stay = layout.problem.previous is not None and not layout.enclosed and not any(pool.host for pool in layout.pools)
    if may_stay and (near := _values(layout, stretch=True, near=True)) is not None:
        return near
    values = _values(layout, stretch=True)
    return _values(layout, stretch=False) if values is None else values


def greedy_even(layout: Layout) -> Values | None:
    """Return greedy values with the most accelerators in even counts; None without success."""
    sets, weight = open_sets(layout.problem), weight_of(layout.problem)
    if len(sets) < 2 or not weight or layout.shared or layout.problem.previous is not None:
        return None
    remaining = sum(range_of(members)[1] for members in sets) - -(-MissingAccelerators().bound(layout) // weight)
    bundles = [layout.bundle_of[members[0].name] for members in sets]
    choices = [list_allowed(layout, bundle, remaining // bundle.unit) for bundle in bundles]
    targets = most_even([range_of(members) for members in sets], remaining)
    fit = [bisect_right(units, most // bundle.unit) - 1 for units, bundle, most in zip(choices, bundles, targets)]
    if min(fit) < 0:
        return None
    counts = [units[position] for units, position in zip(choices, fit)]
    remaining -= sum(count * bundle.unit for count, bundle in zip(counts, bundles))
    while True:  # what does not divide goes to the smallest counts
        more = [
            (count * bundle.unit, number, units[position + 1])
            for number, (bundle, units, position, count) in enumerate(zip(bundles, choices, fit, counts))
            if position + 1 < len(units) and (units[position + 1] - count) * bundle.unit <= remaining
        ]
        if not more:
            return _values(layout, True, dict(zip(bundles, counts)))
        _, number, count = min(more)
        remaining -= (count - counts[number]) * bundles[number].unit
        counts[number], fit[number] = count, fit[number] + 1


def _values(layout: Layout, stretch: bool, demand: Mapping[Bundle, int] = MappingProxyType({}), near: bool = False) -> Values | None:
    values: Values = {}
    for pool in layout.pools:
        free = dict(pool.free if pool.host is None else _mask_held(layout, pool.host, values))
        if not _place_pool(layout, pool, free, stretch, values, demand, near):
            return None
    return with_even_counts(layout, values)


def _mask_held(layout: Layout, host: Bundle, values: Values) -> Masks:
    """Return node rank -> bit mask of a placed host, without given bundles inside.

    For a counted host only the number of bits is exact.
    """
    place, inner = values.get(host), layout.enclosed.get(host, {})
    if isinstance(place, tuple):
        pieces = layout.numbering(host).pieces(place[0], place[0] + place[1] * host.unit)
        return {stretch.node_rank: (((1 << count) - 1) << first) & ~inner.get(stretch.node_rank, 0) for stretch, first, count in pieces}
    counts = {count.cell: values[count] for count in layout.counts if count.bundle is host}
    resources = {cell: count * host.unit - layout.count_enclosed(host, cell) for cell, count in counts.items() if isinstance(count, int)}
    return {cell.nodes[0].rank: (1 << count) - 1 for cell, count in resources.items()}


def _place_pool(
    layout: Layout, pool: NodePool, free: dict[int, int], stretch: bool, values: Values, demand: Mapping[Bundle, int], near: bool
) -> bool:  # fmt: skip
    """Place all bundles of a pool, contiguous first; return False on failure.

    A bundle gets the units of `demand`, else the most if stretched, else the least. With `near` groups
    of the previous answer stay where they can.
    """
    for bundle in sorted((bundle for bundle in pool.bundles if bundle.contiguous), key=lambda bundle: -bundle.unit * bundle.least):
        places, longest = Places(layout, bundle, reach_free(layout, bundle, free)), longest_free(layout, bundle, free)
        candidates = [units for units in lengths(layout, bundle) if units <= longest and units <= demand.get(bundle, units)]
        # On the fewest nodes, at the lowest ranks.
        lowest_places = filter(None, map(places.best_free, candidates[::-1] if stretch else candidates[:1]))
        place = _nearest(layout, bundle, places) if near else next(lowest_places, None)
        if place is None:
            return False
        values[bundle] = place
        for piece, first, count in places.numbering.pieces(place[0], place[0] + place[1] * bundle.unit):
            free[piece.node_rank] = free.get(piece.node_rank, 0) & ~(((1 << count) - 1) << first)
    headroom = {node: mask.bit_count() for node, mask in free.items()}
    countable = [bundle for bundle in pool.bundles if not bundle.contiguous]
    required_units = {bundle: _begin(layout, bundle, headroom) for bundle in countable if bundle in layout.enclosed}
    required_units.update(_staying(layout, countable, free, headroom) if near else {})
    if any(free_count < 0 for free_count in headroom.values()):
        return False
    for bundle in sorted(countable, key=lambda bundle: (-_largest(bundle), -bundle.unit, len(eligible(layout, bundle)))):
        filling = Filling(layout, bundle, headroom)
        base_counts = required_units.get(bundle, {})
        most = min(filling.space + sum(base_counts.values()), demand.get(bundle, UNBOUNDED))
        fit = [units for units in list_allowed(layout, bundle, most) if units >= sum(base_counts.values())]
        if not fit:
            return False
        counts = dict(base_counts)
        filling.place((fit[-1] if stretch and bundle.bounded else fit[0]) - sum(base_counts.values()), counts)
        values.update({count: counts.get(count.cell, 0) for count in layout.counts if count.bundle is bundle})
    return True


def _begin(layout: Layout, bundle: Bundle, headroom: Room) -> dict[Cell, int]:
    """Return the units per cell around given bundles inside a bundle.

    The other resources of these units are taken out of the room.
    """
    units = {cell: -(-layout.count_enclosed(bundle, cell) // bundle.unit) for cell in layout.cells if layout.count_enclosed(bundle, cell)}
    for cell, count in units.items():
        node = cell.nodes[0].rank
        headroom[node] = headroom.get(node, 0) - (count * bundle.unit - layout.count_enclosed(bundle, cell))
    return units


def _staying(layout: Layout, bundles: Sequence[Bundle], free: Masks, headroom: Room) -> dict[Bundle, dict[Cell, int]]:
    """Return the units per cell that can stay; take their resources out of the room."""
    staying: dict[Bundle, dict[Cell, int]] = {}
    remaining, sets = dict(free), movable(layout.problem)
    for bundle in sorted((bundle for bundle in bundles if bundle.components in sets), key=lambda bundle: -bundle.unit):
        counts, old, block = staying.setdefault(bundle, {}), survivors(layout.problem, bundle.components).at, blocks(bundle)[0]
        left_of_block = Counter(number // block for number in old.values())  # what is given up first is of torn blocks
        for node, mask in sorted(old, key=lambda piece: (-left_of_block[old[piece] // block], old[piece])):
            if node in layout.eligible[bundle] and not mask & ~remaining.get(node, 0) and sum(counts.values()) < bundle.most:
                remaining[node] &= ~mask
                headroom[node] -= bundle.unit
                counts[layout.cell_of[node]] = counts.get(layout.cell_of[node], 0) + 1
    return staying


def _nearest(layout: Layout, bundle: Bundle, places: Places) -> Place | None:
    """Return the free place that keeps most groups: longest, most kept, fewest nodes."""
    count_kept = count_kept_by_place(layout, bundle)
    fit = (place for place in whole_places(layout, bundle) if places.is_free(place[0], place[0] + place[1] * bundle.unit))

    def worth(place: Place) -> tuple[int, int, int, int]:
        return (-place[1], -count_kept(place), places.count_covered(place[0], place[0] + place[1] * bundle.unit), place[0])

    return min(fit, key=worth, default=None)


def _largest(bundle: Bundle) -> int:
    """Return the size of the bundle's largest group kept whole in a domain.

    Such groups are the hardest to place.
    """
    return max((size for _, size in bundle.wholes), default=bundle.unit)
