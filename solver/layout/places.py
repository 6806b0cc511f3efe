"""Where a contiguous bundle could be."""

from __future__ import annotations

from itertools import accumulate
from typing import Iterator, Sequence

from .amounts import allowed
from .layout import Bundle, Layout
from .pool import Masks
from .reach import within_reach

Place = tuple[int, int]
"""(first resource rank, units)."""
MAX_LENGTHS = 32
MAX_PLACES = 40_000
MAX_TERMS = 1_000_000
"""How much of a contiguous bundle the solver is told at most: lengths, places, and places times the nodes they cover."""


class Places:
    """The numbering of a contiguous bundle, with what is free in it, so that any range of it is judged at once."""

    def __init__(self, layout: Layout, bundle: Bundle, free: Masks) -> None:
        self.numbering, self.unit = layout.numbering(bundle), bundle.unit
        bits = (free.get(s.node_rank, 0) >> index & 1 for s in self.numbering.stretches for index in range(s.count))
        self._held = [0, *accumulate(1 - bit for bit in bits)]
        self._odd = [0, *accumulate(int(stretch.count % self.unit > 0) for stretch in self.numbering.stretches)]

    def is_free(self, start: int, stop: int) -> bool:
        """Does nobody hold anything of it?"""
        return self._held[start] == self._held[stop]

    def is_whole(self, start: int, stop: int) -> bool:
        """Does it lie so that no unit is cut between nodes?"""
        if self.unit == 1:
            return True
        covered = self.numbering.covered(start, stop)
        first, last = self.numbering.locate(start), self.numbering.locate(stop - 1)
        if len(covered) == 1:
            return (stop - start) % self.unit == 0
        between = self._odd[covered.stop - 1] - self._odd[covered.start + 1]
        return not between and (first[0].count - first[1]) % self.unit == 0 and (last[1] + 1) % self.unit == 0

    def best_free(self, units: int) -> Place | None:
        """The free place of this length on the fewest nodes, the lowest of them; None if there is none."""
        length = units * self.unit
        starts = range(self.numbering.size - length + 1) if units else ()
        fit = (s for s in starts if self.is_free(s, s + length) and self.is_whole(s, s + length))
        start = min(fit, key=lambda s: (len(self.numbering.covered(s, s + length)), s), default=None)
        return None if start is None else (start, units)


def all_lengths(layout: Layout, bundle: Bundle) -> Sequence[int]:
    """Every number of units that the bundle may have, wherever it is."""
    return allowed(layout, bundle, layout.numbering(bundle).size // bundle.unit)


def lengths(layout: Layout, bundle: Bundle) -> tuple[int, ...]:
    """Those that are searched: all of them, or some spread evenly, the smallest always among them."""
    every = all_lengths(layout, bundle)
    count = max(1, min(MAX_LENGTHS, MAX_PLACES // max(1, layout.numbering(bundle).size)))
    if len(every) <= count:
        return tuple(every)
    return tuple(every[position * (len(every) - 1) // max(1, count - 1)] for position in range(count))


def from_node_starts(layout: Layout, bundle: Bundle) -> bool:
    """Are there so many places that only those are searched which start where a node starts?"""
    numbering = layout.numbering(bundle)
    nodes = bundle.least * bundle.unit * len(numbering.stretches) // max(1, numbering.size)
    return numbering.size * len(lengths(layout, bundle)) * nodes > MAX_TERMS


def whole_places(layout: Layout, bundle: Bundle) -> list[Place]:
    """Every place that is searched, free or not, that cuts no unit between nodes."""
    places, only_nodes = Places(layout, bundle, layout.pool_of[bundle].free), from_node_starts(layout, bundle)
    found = []
    for units in lengths(layout, bundle):
        length = units * bundle.unit
        for start in range(places.numbering.size - length + 1):
            if places.is_whole(start, start + length) and not (only_nodes and places.numbering.locate(start)[1]):
                found.append((start, units))
    return found


def longest_free(layout: Layout, bundle: Bundle) -> int:
    """The most units of any free range on nodes it may use that cuts none; 0 if not even one has a place. Cost grows with nodes."""
    longest = ending = 0  # `ending`: the longest range that ends with the last resource of the node before
    usable = within_reach(layout, bundle, layout.pool_of[bundle].free)
    for stretch in layout.numbering(bundle).stretches:
        free, after = usable.get(stretch.node_rank, 0), 0
        for first, stop in _runs(free, stretch.count):
            before = ending if first == 0 else 0
            whole = (stop - first) // bundle.unit * bundle.unit
            longest = max(longest, before + whole)
            if stop == stretch.count:
                after = before + whole if whole == stop - first else whole
        ending = after
    return longest // bundle.unit


def _runs(mask: int, count: int) -> Iterator[tuple[int, int]]:
    """The solid runs (first, last + 1) of the set bits below `count`."""
    position = 0
    while position < count:
        if mask >> position & 1:
            start = position
            while position < count and mask >> position & 1:
                position += 1
            yield start, position
        position += 1
