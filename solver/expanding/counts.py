"""Expansion of counts into node resources: cell by cell, largest units first."""

from __future__ import annotations

from typing import Mapping, Sequence

from ...models.machines.node import Node
from ..layout.bundle import Bundle
from ..layout.cells import Cell, is_chain, numa_domains
from ..layout.parts import lowest, solid_range
from ..layout.pools import NodePool

Domains = Sequence[int]
"""NUMA domains of a node as bit masks."""
NodeMasks = dict[int, int]
"""FreeResources of a bundle: node rank -> bit mask."""


def unit_of(free: int, bundle: Bundle, solid: bool, domains: Domains) -> int:
    """Return a unit's lowest free resources on a node; 0 if it does not fit.

    With `solid` every process gets one contiguous range. Several `domains` are passed only if
    pieces inside NUMA domains are counted: then a domain is used up before the next is started.
    """
    group = max(component.per_process for component in bundle.components) if solid else 1
    if bundle.piece > 1:
        return _pieces(free, bundle, group, solid, domains)
    if len(domains) > 1:
        for mask in domains:
            if unit := lowest_resources(free & mask, bundle.unit, group, solid):
                return unit
        return _fill(free, bundle.unit, domains)
    return lowest_resources(free, bundle.unit, group, solid)


def _pieces(free: int, bundle: Bundle, group: int, solid: bool, domains: Domains) -> int:
    """Return the pieces of a unit; no piece crosses a domain."""
    unit = 0
    for mask in domains:
        while unit.bit_count() < bundle.unit and (
            piece := lowest_resources(free & mask & ~unit, bundle.piece, min(group, bundle.piece), solid)
        ):
            unit |= piece
    return unit if unit.bit_count() == bundle.unit else 0


def _fill(free: int, size: int, domains: Domains) -> int:
    """Return the lowest resources, using up a domain before the next."""
    unit = 0
    for mask in domains:
        unit |= lowest(free & mask, size - unit.bit_count())
    return unit if unit.bit_count() == size else 0


def lowest_resources(free: int, size: int, length: int, solid: bool) -> int:
    """Return the lowest `size` resources; 0 if there are too few.

    With `solid` preferably one contiguous range; otherwise contiguous ranges of `length`.
    """
    if free.bit_count() < size:
        return 0
    resources = solid_range(free, size) if solid else 0
    while resources.bit_count() < size and (piece := solid_range(free & ~resources, length)):
        resources |= piece
    return resources if resources.bit_count() == size else 0


def pack_into_domains(free: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """Return a domain per size within the free capacities; None if no such packing exists."""
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    remaining, packing = list(free), [-1] * len(sizes)
    dead_ends: set[tuple[int, tuple[int, ...]]] = set()

    def place(position: int) -> bool:
        if position == len(order):
            return True
        state = (position, tuple(remaining))
        if state in dead_ends:
            return False
        size = sizes[order[position]]
        for domain in range(len(remaining)):
            if remaining[domain] >= size and remaining[domain] not in remaining[:domain]:
                remaining[domain] -= size
                packing[order[position]] = domain
                if place(position + 1):
                    return True
                remaining[domain] += size
        dead_ends.add(state)
        return False

    return packing if place(0) else None


class ExpansionFailed(Exception):
    """Accepted values do not fit any node: an internal error, never a faulty input."""


class FreeResources:
    """Free resources of nodes, and the resources held by each bundle."""

    def __init__(self, free: NodeMasks, masks: dict[Bundle, NodeMasks]) -> None:
        self.free, self.held = free, masks

    def take(self, bundle: Bundle, node: int, mask: int) -> None:
        """Move free resources of a node to a bundle."""
        self.free[node] = self.free.get(node, 0) & ~mask
        self.held[bundle][node] = self.held[bundle].get(node, 0) | mask

    def fill_up(self, bundle: Bundle, inner_mask: int, size: int, most: int, node: int, domain: int) -> int:
        """Fill explicit resources up to whole pieces of a bundle, on one domain.

        Return the number of whole pieces, at most `most`.
        """
        count = (inner_mask & domain).bit_count()
        pieces = -(-count // size)
        missing = pieces * size - count
        extra = lowest(self.free.get(node, 0) & domain, missing)
        if extra.bit_count() < missing or pieces > most:
            raise ExpansionFailed(f"node {node} has no room for whole groups of {bundle.name} around given ranks")
        if pieces:
            self.take(bundle, node, extra)
        return pieces


def assign_counts(
    pool: NodePool,
    counts: Mapping[Bundle, Sequence[tuple[Cell, int]]],
    resources: FreeResources,
    inner_masks: Mapping[Bundle, Mapping[int, int]],
) -> None:
    """Assign node resources to every counted bundle of a pool.

    `inner_masks` holds explicit resources within a bundle; they are filled up to whole units first.
    """
    wanted_in: dict[Cell, list[tuple[Bundle, int]]] = {}
    for bundle, cell_counts in counts.items():
        for cell, count in cell_counts:
            wanted_in.setdefault(cell, []).append((bundle, count))
    numa = any(bundle.piece > 1 for bundle in pool.bundles)
    for cell, demand in wanted_in.items():
        first, numa_bound = cell.nodes[0], [(bundle, count) for bundle, count in demand if bundle.piece > 1]
        inner = {bundle: inner_masks.get(bundle, {}).get(first.rank, 0) for bundle, _ in demand}
        is_exact = is_chain([bundle.piece for bundle, _ in numa_bound]) and not any(inner[bundle] for bundle, _ in numa_bound)
        if len(cell.nodes) == 1 and not is_exact:
            _deal(first, numa_bound, inner, resources)
            demand = [pair for pair in demand if pair[0].piece == 1]
        for bundle, count in sorted(demand, key=lambda pair: _order(cell, pair[0])):
            remaining = count - resources.fill_up(bundle, inner[bundle], bundle.unit, count, first.rank, first.whole(bundle.kind))
            nodes = [(node.rank, numa_domains(node, pool.kind) if numa else ()) for node in cell.nodes]
            if remaining := remaining - _take_units(bundle, remaining, nodes, resources):
                raise ExpansionFailed(f"{remaining} units of {bundle.name} have no place in {cell.name}")


def _order(cell: Cell, bundle: Bundle) -> tuple[int, ...]:
    """Sort key: largest units first; on a single node pieces inside NUMA domains first."""
    return (-bundle.unit, -bundle.piece) if len(cell.nodes) > 1 else (-bundle.piece, -bundle.unit)


def _take_units(bundle: Bundle, count: int, nodes: Sequence[tuple[int, Domains]], resources: FreeResources) -> int:
    """Take up to `count` units; return their number."""
    free, number = resources.free, 0
    # A text can state a process on contiguous ranges alone; any order of nodes will do.
    for solid in (True, False):
        for rank, domains in nodes:
            while number < count and (unit := unit_of(free.get(rank, 0), bundle, solid, domains)):
                resources.take(bundle, rank, unit)
                number += 1
    return number


def _deal(node: Node, demand: Sequence[tuple[Bundle, int]], inner: Mapping[Bundle, int], resources: FreeResources) -> None:
    """Assign pieces inside NUMA domains of one node, by a searched packing."""
    domains, free = numa_domains(node, demand[0][0].kind), resources.free
    pieces: list[Bundle] = []
    for bundle, count in demand:
        remaining = count * bundle.unit // bundle.piece
        for mask in domains:
            remaining -= resources.fill_up(bundle, inner[bundle], bundle.piece, remaining, node.rank, mask)
        pieces += [bundle] * remaining
    packing = pack_into_domains([(free.get(node.rank, 0) & mask).bit_count() for mask in domains], [bundle.piece for bundle in pieces])
    if packing is None:
        raise ExpansionFailed(f"the NUMA domains of node {node.rank} do not hold {len(pieces)} pieces")
    for bundle, number in zip(pieces, packing):
        resources.take(bundle, node.rank, lowest_resources(free[node.rank] & domains[number], bundle.piece, 1, solid=False))
