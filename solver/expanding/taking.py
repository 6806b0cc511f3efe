"""Which free resources of a node the units of a bundle take: solid ranges where there are any, whole pieces of NUMA domains where they matter."""

from __future__ import annotations

from typing import Sequence

from ..layout.bundle import Bundle
from ..layout.masks import bits, solid_range

Domains = Sequence[int]
"""The NUMA domains of a node as bit masks."""


def unit_of(free: int, bundle: Bundle, solid: bool, domains: Domains) -> int:
    """The lowest free resources of a node for one unit, with `solid` in one range for each process; 0 if there are none.

    `domains` are several only where pieces inside NUMA domains are counted: then each is used up before the next is begun.
    """
    each = max(component.per_process for component in bundle.components) if solid else 1
    if bundle.piece > 1:
        return _pieces(free, bundle, each, solid, domains)
    if len(domains) > 1:
        for mask in domains:
            if taken := some_of(free & mask, bundle.unit, each, solid):
                return taken
        return _filled(free, bundle.unit, domains)
    return some_of(free, bundle.unit, each, solid)


def _pieces(free: int, bundle: Bundle, each: int, solid: bool, domains: Domains) -> int:
    """As many pieces as a unit has, each inside one domain."""
    taken = 0
    for mask in domains:
        while taken.bit_count() < bundle.unit and (piece := some_of(free & mask & ~taken, bundle.piece, min(each, bundle.piece), solid)):
            taken |= piece
    return taken if taken.bit_count() == bundle.unit else 0


def _filled(free: int, size: int, domains: Domains) -> int:
    """The lowest resources, all that a domain has before any of the next."""
    taken = 0
    for mask in domains:
        for bit in bits(free & mask):
            if taken.bit_count() < size:
                taken |= 1 << bit
    return taken if taken.bit_count() == size else 0


def some_of(free: int, size: int, each: int, solid: bool) -> int:
    """So many of these resources, the lowest: a solid range, or solid ranges of `each`; 0 if there are none."""
    if free.bit_count() < size:
        return 0
    taken = solid_range(free, size) if solid else 0
    while taken.bit_count() < size and (piece := solid_range(free & ~taken, each)):
        taken |= piece
    return taken if taken.bit_count() == size else 0


def dealt(free: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """For each size, the number of the domain that it goes to, so that no domain gets more than it has free; None if that cannot be."""
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    left, chosen = list(free), [-1] * len(sizes)
    failed: set[tuple[int, tuple[int, ...]]] = set()

    def place(position: int) -> bool:
        if position == len(order):
            return True
        state = (position, tuple(left))
        if state in failed:
            return False
        size = sizes[order[position]]
        for domain in range(len(left)):
            if left[domain] >= size and left[domain] not in left[:domain]:
                left[domain] -= size
                chosen[order[position]] = domain
                if place(position + 1):
                    return True
                left[domain] += size
        failed.add(state)
        return False

    return chosen if place(0) else None
