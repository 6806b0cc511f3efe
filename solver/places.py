"""Where a contiguous bundle could be."""

from __future__ import annotations

from typing import Iterator, Mapping

from .layout import Bundle, Layout

Place = tuple[int, int]
"""(first resource rank, units)."""


def whole_places(layout: Layout, bundle: Bundle) -> list[Place]:
    """Every (first resource rank, units) in the bundle's numbering, least to most units, that cuts no unit between nodes."""
    numbering = layout.numbering(bundle)
    places = []
    for units in range(bundle.least, min(bundle.most, numbering.size // bundle.unit) + 1):
        length = units * bundle.unit
        for start in range(numbering.size - length + 1):
            if bundle.unit == 1 or all(count % bundle.unit == 0 for _, _, count in numbering.pieces(start, start + length)):
                places.append((start, units))
    return places


def free_places(layout: Layout, bundle: Bundle, free: Mapping[tuple[int, str], int]) -> Iterator[Place]:
    """Those whose resources are all free."""
    numbering = layout.numbering(bundle)
    for start, units in whole_places(layout, bundle):
        pieces = numbering.pieces(start, start + units * bundle.unit)
        if not any(((1 << count) - 1) << first & ~free[stretch.node_rank, bundle.kind] for stretch, first, count in pieces):
            yield start, units
