"""First answer without a solver: the largest units first, in as few domains as possible."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Sequence

from ..models.machines.topology import LEVELS
from .expanding.ranks import deal
from .layout.bundle import Bundle
from .layout.cells import Cell
from .layout.layout import Layout, Values, allowed, eligible, within_reach
from .layout.parts import lowest
from .layout.pools import Masks, Pool
from .layout.ranges import Places, lengths, longest_free
from .replanning.stay import stay

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
        ground = {node: pool.free.get(node, 0) | mask for node, mask in self.layout.enclosed.get(bundle, {}).items()}
        free = {node: mask & ~reduce(or_, (its.get(node, 0) for its in strange), 0) for node, mask in {**pool.free, **ground}.items()}
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
        inner.append(self.layout.enclosed.get(bundle, {}))
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
    """Resources of a placed bundle beside given bundles within it: node rank -> bit mask.

    Of a counted bundle only the number of bits is right.
    """
    place, enclosed = values.get(host), layout.enclosed.get(host, {})
    if isinstance(place, tuple):
        pieces = layout.numbering(host).pieces(place[0], place[0] + place[1] * host.unit)
        return {its.node_rank: (((1 << count) - 1) << first) & ~enclosed.get(its.node_rank, 0) for its, first, count in pieces}
    counts = {count.cell: values[count] for count in layout.counts if count.bundle is host}
    held = {cell: count * host.unit - layout.enclosed_in(host, cell) for cell, count in counts.items() if isinstance(count, int)}
    return {cell.nodes[0].rank: (1 << count) - 1 for cell, count in held.items()}


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
            free[piece.node_rank] = free.get(piece.node_rank, 0) & ~(((1 << count) - 1) << first)
    room = {node: mask.bit_count() for node, mask in free.items()}
    counted = [bundle for bundle in pool.bundles if not bundle.contiguous]
    begun = {bundle: _begun(layout, bundle, room) for bundle in counted if bundle in layout.enclosed}
    if any(left < 0 for left in room.values()):
        return False
    for bundle in sorted(counted, key=lambda each: (-_largest(each), -each.unit, len(eligible(layout, each)))):
        filling = Filling(layout, bundle, room)
        there = begun.get(bundle, {})
        fit = [units for units in allowed(layout, bundle, filling.space + sum(there.values())) if units >= sum(there.values())]
        if not fit:
            return False
        counts = filling.place((fit[-1] if stretch and bundle.bounded else fit[0]) - sum(there.values()))
        counts.update({cell: counts.get(cell, 0) + units for cell, units in there.items()})
        values.update({count: counts.get(count.cell, 0) for count in layout.counts if count.bundle is bundle})
    return True


def _begun(layout: Layout, bundle: Bundle, room: Room) -> dict[Cell, int]:
    """The units of a bundle that have resources of given ones within it; what they need besides is taken out of the room."""
    units = {cell: -(-layout.enclosed_in(bundle, cell) // bundle.unit) for cell in layout.cells if layout.enclosed_in(bundle, cell)}
    for cell, count in units.items():
        node = cell.nodes[0].rank
        room[node] = room.get(node, 0) - (count * bundle.unit - layout.enclosed_in(bundle, cell))
    return units


def _largest(bundle: Bundle) -> int:
    """What is hardest to place of a bundle: the largest group that some domain holds whole."""
    return max((size for _, size in bundle.wholes), default=bundle.unit)
