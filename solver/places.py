"""Where a contiguous bundle could be."""

from __future__ import annotations

from typing import Iterator, Mapping

from .layout import Bundle, Layout

Place = tuple[int, int]
"""(first resource rank, units)."""


def whole_places(layout: Layout, bundle: Bundle) -> list[Place]:
    """Every place in the bundle's numbering, of least to most units, that cuts no unit between nodes."""
    largest = min(bundle.most, layout.numbering(bundle).size // bundle.unit)
    return [place for units in range(bundle.least, largest + 1) for place in _places(layout, bundle, units)]


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
