"""Where a contiguous bundle could be."""

from __future__ import annotations

from math import lcm
from typing import Iterator, Mapping

from .layout import Bundle, Layout

Place = tuple[int, int]
"""(first resource rank, units)."""


MAX_LENGTHS = 32


def all_lengths(layout: Layout, bundle: Bundle) -> range:
    """Every number of units that the bundle may have: whole replicas and processes of all its members."""
    step = lcm(bundle.unit, *(component.step for component in bundle.components)) // bundle.unit
    largest = min(bundle.most, layout.numbering(bundle).size // bundle.unit)
    return range(-(-bundle.least // step) * step, largest + 1, step)


def lengths(layout: Layout, bundle: Bundle) -> tuple[int, ...]:
    """Those that are searched: all of them, or MAX_LENGTHS spread evenly, the smallest and the largest among them."""
    every = all_lengths(layout, bundle)
    if len(every) <= MAX_LENGTHS:
        return tuple(every)
    return tuple(every[position * (len(every) - 1) // (MAX_LENGTHS - 1)] for position in range(MAX_LENGTHS))


def whole_places(layout: Layout, bundle: Bundle) -> list[Place]:
    """Every place in the bundle's numbering, of the lengths that are searched, that cuts no unit between nodes."""
    return [place for units in lengths(layout, bundle) for place in _places(layout, bundle, units)]


def free_places(layout: Layout, bundle: Bundle, free: Mapping[tuple[int, str], int]) -> Iterator[Place]:
    """Those whose resources are all free."""
    return (place for place in whole_places(layout, bundle) if _is_free(layout, bundle, free, place))


def longest_free(layout: Layout, bundle: Bundle) -> int:
    """The most units, up to what the bundle needs at least, that have a free place; 0 if not even one has."""
    units = min(bundle.least, layout.numbering(bundle).size // bundle.unit)
    while units and not any(_is_free(layout, bundle, layout.free, place) for place in _places(layout, bundle, units)):
        units -= 1
    return units


def _places(layout: Layout, bundle: Bundle, units: int) -> Iterator[Place]:
    numbering, length = layout.numbering(bundle), units * bundle.unit
    for start in range(numbering.size - length + 1):
        if bundle.unit == 1 or all(count % bundle.unit == 0 for _, _, count in numbering.pieces(start, start + length)):
            yield start, units


def _is_free(layout: Layout, bundle: Bundle, free: Mapping[tuple[int, str], int], place: Place) -> bool:
    pieces = layout.numbering(bundle).pieces(place[0], place[0] + place[1] * bundle.unit)
    return not any(((1 << count) - 1) << first & ~free[stretch.node_rank, bundle.kind] for stretch, first, count in pieces)
