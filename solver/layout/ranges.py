"""Places of contiguous bundles."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Iterator, Sequence

from ...models.component import IN_ORDER, NOT_FEWER, SUBSET, WHOLE
from ...models.machines.node_group import ACCELERATOR, Numbering
from ...models.machines.topology import domain, numa_masks
from .layout import Layout, list_allowed, reach_free
from .parts import bits
from .pools import Masks

if TYPE_CHECKING:
    from .bundle import Bundle


Domains = tuple[list[int], list[str]]
"""Resource ranks at domain borders, and the domains.

The first rank of every stretch of nodes of a domain, and the end of the last stretch.
"""
Place = tuple[int, int]
"""First resource rank, and units."""
MAX_LENGTHS = 32
MAX_PLACES = 40_000
"""Limits on lengths and places in the model, with a literal per place."""


def fewest_nodes(numbering: Numbering, amount: int) -> int:
    """Return the fewest nodes for the resources, if all were as large as the largest."""
    return -(-amount // max((stretch.count for stretch in numbering.stretches), default=1))


class WholePieces:
    """Check of ranges against pieces kept whole in NUMA domains and above the node."""

    def __init__(self, layout: Layout, bundle: Bundle, numbering: Numbering) -> None:
        self._numbering, self._bundle, self._cluster = numbering, bundle, layout.problem.cluster
        self._levels = [(size, _solid_runs(layout, numbering, level)) for level, size in bundle.wholes]

    def is_whole(self, start: int, stop: int) -> bool:
        """Return True if the range cuts no such piece."""
        if any(amount % size for size, runs in self._levels for amount in _amounts(runs, start, stop).values()):
            return False
        return self._bundle.piece == 1 or self._bundle.kind != ACCELERATOR or self._in_numa_domains(start, stop)

    def _in_numa_domains(self, start: int, stop: int) -> bool:
        for stretch, first, count in self._numbering.pieces(start, stop):
            range_mask = ((1 << count) - 1) << first
            if any((range_mask & mask).bit_count() % self._bundle.piece for mask in numa_masks(self._cluster.nodes[stretch.node_rank])):
                return False
        return True


def _solid_runs(layout: Layout, numbering: Numbering, level: str) -> Domains:
    nodes = layout.problem.cluster.nodes
    names = [domain(nodes[stretch.node_rank], level) for stretch in numbering.stretches]
    return [*accumulate((stretch.count for stretch in numbering.stretches), initial=0)], names


def _amounts(runs: Domains, start: int, stop: int) -> dict[str, int]:
    """Return domain -> resources of a range."""
    edges, names = runs
    amounts: dict[str, int] = {}
    for position in range(bisect_right(edges, start) - 1, bisect_right(edges, stop - 1)):
        count = min(stop, edges[position + 1]) - max(start, edges[position])
        amounts[names[position]] = amounts.get(names[position], 0) + count
    return amounts


class Places:
    """Numbering of a contiguous bundle with its free resources, for checks of ranges.

    Attributes
    ----------
    nodes : position of each resource rank's node among the nodes of the numbering.
    local : index of each resource rank on its node.
    counts : number of resource ranks of each node.
    last_start, first_stop : last rank at which a range may begin, and first rank before which it
        may end, to cover enclosed bundles.
    """

    def __init__(self, layout: Layout, bundle: Bundle, free: Masks) -> None:
        self.numbering, self.unit = layout.numbering(bundle), bundle.unit
        stretches = self.numbering.stretches
        self.counts = [stretch.count for stretch in stretches]
        self.nodes = [number for number, count in enumerate(self.counts) for _ in range(count)]
        self.local = [index for count in self.counts for index in range(count)]
        inner_masks = layout.enclosed.get(bundle, {})
        masks = [free.get(stretch.node_rank, 0) | inner_masks.get(stretch.node_rank, 0) for stretch in stretches]
        self._held = [0, *accumulate(1 - (masks[node] >> index & 1) for node, index in zip(self.nodes, self.local))]
        self._odd = [0, *accumulate(int(count % self.unit > 0) for count in self.counts)]
        self._ranks = [stretch.node_rank for stretch in stretches]
        self._twice = len(set(self._ranks)) < len(self._ranks)
        self._finer = WholePieces(layout, bundle, self.numbering) if bundle.wholes or bundle.piece > 1 else None
        first, size = self.numbering.first, self.numbering.size
        self.last_start, self.first_stop = size, 0
        for node, mask in inner_masks.items():  # no range holds resources outside the numbering
            low, high = (first[node] + next(bits(mask)), first[node] + mask.bit_length()) if node in first else (-1, size + 1)
            self.last_start, self.first_stop = min(self.last_start, low), max(self.first_stop, high)

    def holds_enclosed(self, start: int, stop: int) -> bool:
        """Return True if the range covers all given bundles inside the bundle."""
        return start <= self.last_start and stop >= self.first_stop

    def is_free(self, start: int, stop: int) -> bool:
        """Return True if the range is free."""
        return self._held[start] == self._held[stop]

    def is_whole(self, start: int, stop: int) -> bool:
        """Return True if the range cuts no unit or piece, and visits no node twice."""
        first, last = self.nodes[start], self.nodes[stop - 1]
        if first == last:
            fits = (stop - start) % self.unit == 0
        else:
            fits = self._odd[last] == self._odd[first + 1] and self.may_begin(start) and self.may_end(stop)
        if fits and self._twice and len(set(self._ranks[first : last + 1])) <= last - first:
            return False
        return fits and (self._finer is None or self._finer.is_whole(start, stop))

    def may_begin(self, start: int) -> bool:
        """Return True if a range over several nodes may begin here without a cut unit."""
        return (self.counts[self.nodes[start]] - self.local[start]) % self.unit == 0

    def may_end(self, stop: int) -> bool:
        """Return True if a range over several nodes may end before this rank.

        It then cuts no unit.
        """
        return (self.local[stop - 1] + 1) % self.unit == 0

    def run_from(self, start: int) -> tuple[int, int]:
        """Return the key that start and end of a range over several nodes must share.

        A range that begins here is free and whole only if `run_to` of its end is equal.
        """
        return self._held[start], self._odd[self.nodes[start] + 1]

    def run_to(self, stop: int) -> tuple[int, int]:
        """Return the key of a range's end (see `run_from`)."""
        return self._held[stop], self._odd[self.nodes[stop - 1]]

    def count_covered(self, start: int, stop: int) -> int:
        """Return the number of nodes of the range."""
        return self.nodes[stop - 1] - self.nodes[start] + 1

    def best_free(self, units: int) -> Place | None:
        """Return the free place of this length on the fewest nodes, lowest first.

        None if there is none.
        """
        length = units * self.unit
        starts = range(self.numbering.size - length + 1) if units else ()
        fit = (s for s in starts if self.holds_enclosed(s, s + length) and self.is_free(s, s + length) and self.is_whole(s, s + length))
        start = min(fit, key=lambda s: (self.count_covered(s, s + length), s), default=None)
        return None if start is None else (start, units)


def all_lengths(layout: Layout, bundle: Bundle) -> Sequence[int]:
    """Return every number of units allowed for the bundle in its numbering."""
    return list_allowed(layout, bundle, layout.numbering(bundle).size // bundle.unit)


def has_separate_ends(layout: Layout, bundle: Bundle) -> bool:
    """Return True if start and end are separate decisions, due to too many places.

    Not if something depends on both: pinned ranks, groups kept together, a previous place, or a
    numbering that goes back to lower nodes.
    """
    every, numbering = all_lengths(layout, bundle), layout.numbering(bundle)
    if len(every) <= 1 or (len(every) <= MAX_LENGTHS and len(every) * numbering.size // bundle.unit <= MAX_PLACES):
        return False
    nodes = [stretch.node_rank for stretch in numbering.stretches]
    either = any(component.pins or component.keep for component in bundle.components)
    return not either and layout.problem.previous is None and nodes == sorted(set(nodes)) and not bundle.wholes and bundle.piece == 1


def lengths(layout: Layout, bundle: Bundle) -> Sequence[int]:
    """Return the numbers of units searched.

    All of them, or some spread evenly, always with the smallest.
    """
    every = all_lengths(layout, bundle)
    count = max(1, min(MAX_LENGTHS, MAX_PLACES // max(1, layout.numbering(bundle).size // bundle.unit)))
    if len(every) <= count or has_separate_ends(layout, bundle):
        return every
    return tuple(every[position * (len(every) - 1) // max(1, count - 1)] for position in range(count))


def whole_places(layout: Layout, bundle: Bundle) -> list[Place]:
    """Return every place searched: free, and without cuts."""
    places = Places(layout, bundle, layout.pool_of[bundle].free)
    result = []
    for units in lengths(layout, bundle):
        length = units * bundle.unit
        for start in range(places.numbering.size - length + 1) if units else ():
            stop = start + length
            if places.holds_enclosed(start, stop) and places.is_free(start, stop) and places.is_whole(start, stop):
                result.append((start, units))
    return result


def longest_free(layout: Layout, bundle: Bundle, free: Masks | None = None) -> int:
    """Return the most units of any free range without cuts; 0 without any.

    Only nodes in the bundle's reach count. Cost grows with nodes. `free`: free resources, by
    default those of the bundle's pool.
    """
    # `ending`: longest range that ends with the last resource of the previous node
    longest = ending = 0
    usable = dict(reach_free(layout, bundle, layout.pool_of[bundle].free if free is None else free))
    for node, mask in reach_free(layout, bundle, layout.enclosed.get(bundle, {})).items():
        usable[node] = usable.get(node, 0) | mask
    for stretch in layout.numbering(bundle).stretches:
        after = 0
        for first, stop in _runs(usable.get(stretch.node_rank, 0), stretch.count):
            before = ending if first == 0 else 0
            whole = (stop - first) // bundle.unit * bundle.unit
            longest = max(longest, before + whole)
            if stop == stretch.count:
                after = before + whole if whole == stop - first else whole
        ending = after
    return longest // bundle.unit


def _runs(mask: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield the solid runs (first, last + 1) of set bits below `count`."""
    position = 0
    while position < count:
        if mask >> position & 1:
            start = position
            while position < count and mask >> position & 1:
                position += 1
            yield start, position
        position += 1


def is_restricted(layout: Layout) -> bool:
    """Return True if only some places of contiguous bundles are searched.

    A bound of the solver then proves nothing.
    """
    return any(len(all_lengths(layout, bundle)) > len(lengths(layout, bundle)) for bundle in layout.ranged)


def has_free_order(layout: Layout) -> bool:
    """Return True if a range in any order has groups better kept together.

    The search prices the groups in the order of the range, so its bound proves nothing.
    """
    components = [component for bundle in layout.ranged for component in bundle.components if component.any_order]
    return any(not keep.required and keep.unit != WHOLE for component in components for keep in component.keep)


def refutable(layout: Layout) -> bool:
    """Return True if an empty search proves infeasibility.

    The smallest length is always searched. If it has no place, no longer one has, unless a relation
    asks for more.
    """
    wants_more = any(layout.problem.find_relations(kind) for kind in (IN_ORDER, NOT_FEWER, SUBSET))
    return not wants_more or not is_restricted(layout)
