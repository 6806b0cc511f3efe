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
            if taken := lowest_resources(free & mask, bundle.unit, group, solid):
                return taken
        return _fill(free, bundle.unit, domains)
    return lowest_resources(free, bundle.unit, group, solid)


def _pieces(free: int, bundle: Bundle, group: int, solid: bool, domains: Domains) -> int:
    """Return the pieces of a unit; no piece crosses a domain."""
    taken = 0
    for mask in domains:
        while taken.bit_count() < bundle.unit and (
            piece := lowest_resources(free & mask & ~taken, bundle.piece, min(group, bundle.piece), solid)
        ):
            taken |= piece
    return taken if taken.bit_count() == bundle.unit else 0


def _fill(free: int, size: int, domains: Domains) -> int:
    """Return the lowest resources, using up a domain before the next."""
    taken = 0
    for mask in domains:
        taken |= lowest(free & mask, size - taken.bit_count())
    return taken if taken.bit_count() == size else 0


def lowest_resources(free: int, size: int, length: int, solid: bool) -> int:
    """Return the lowest `size` resources; 0 if there are too few.

    With `solid` preferably one contiguous range; otherwise contiguous ranges of `length`.
    """
    if free.bit_count() < size:
        return 0
    taken = solid_range(free, size) if solid else 0
    while taken.bit_count() < size and (piece := solid_range(free & ~taken, length)):
        taken |= piece
    return taken if taken.bit_count() == size else 0


def pack_into_domains(free: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """Return a domain per size within the free capacities; None if no such packing exists."""
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


class ExpansionFailed(Exception):
    """Accepted values do not fit any node: an internal error, never a faulty input."""


class FreeResources:
    """Free resources of nodes, and the resources held by each bundle."""

    def __init__(self, free: NodeMasks, held: dict[Bundle, NodeMasks]) -> None:
        self.free, self.held = free, held

    def take(self, bundle: Bundle, node: int, mask: int) -> None:
        """Move free resources of a node to a bundle."""
        self.free[node] = self.free.get(node, 0) & ~mask
        self.held[bundle][node] = self.held[bundle].get(node, 0) | mask

    def fill_up(self, bundle: Bundle, inside: int, size: int, most: int, node: int, domain: int) -> int:
        """Fill explicit resources up to whole pieces of a bundle, on one domain.

        Return the number of whole pieces, at most `most`.
        """
        used = (inside & domain).bit_count()
        pieces = -(-used // size)
        missing = pieces * size - used
        taken = lowest(self.free.get(node, 0) & domain, missing)
        if taken.bit_count() < missing or pieces > most:
            raise ExpansionFailed(f"node {node} has no room for whole groups of {bundle.name} around given ranks")
        if pieces:
            self.take(bundle, node, taken)
        return pieces


def assign_counts(
    pool: NodePool,
    counts: Mapping[Bundle, Sequence[tuple[Cell, int]]],
    resources: FreeResources,
    enclosed: Mapping[Bundle, Mapping[int, int]],
) -> None:
    """Assign node resources to every counted bundle of a pool.

    `enclosed` holds explicit resources within a bundle; they are filled up to whole units first.
    """
    wanted_in: dict[Cell, list[tuple[Bundle, int]]] = {}
    for bundle, cell_counts in counts.items():
        for cell, count in cell_counts:
            wanted_in.setdefault(cell, []).append((bundle, count))
    numa = any(bundle.piece > 1 for bundle in pool.bundles)
    for cell, wanted in wanted_in.items():
        first, numa_bound = cell.nodes[0], [(bundle, count) for bundle, count in wanted if bundle.piece > 1]
        inside = {bundle: enclosed.get(bundle, {}).get(first.rank, 0) for bundle, _ in wanted}
        is_exact = is_chain([bundle.piece for bundle, _ in numa_bound]) and not any(inside[bundle] for bundle, _ in numa_bound)
        if len(cell.nodes) == 1 and not is_exact:
            _deal(first, numa_bound, inside, resources)
            wanted = [pair for pair in wanted if pair[0].piece == 1]
        for bundle, count in sorted(wanted, key=lambda pair: _order(cell, pair[0])):
            left = count - resources.fill_up(bundle, inside[bundle], bundle.unit, count, first.rank, first.whole(bundle.kind))
            nodes = [(node.rank, numa_domains(node, pool.kind) if numa else ()) for node in cell.nodes]
            if left := left - _take_units(bundle, left, nodes, resources):
                raise ExpansionFailed(f"{left} units of {bundle.name} have no place in {cell.name}")


def _order(cell: Cell, bundle: Bundle) -> tuple[int, ...]:
    """Sort key: largest units first; on a single node pieces inside NUMA domains first."""
    return (-bundle.unit, -bundle.piece) if len(cell.nodes) > 1 else (-bundle.piece, -bundle.unit)


def _take_units(bundle: Bundle, count: int, nodes: Sequence[tuple[int, Domains]], resources: FreeResources) -> int:
    """Take up to `count` units; return their number."""
    free, number = resources.free, 0
    # A text can state a process on contiguous ranges alone; any order of nodes will do.
    for solid in (True, False):
        for rank, domains in nodes:
            while number < count and (taken := unit_of(free.get(rank, 0), bundle, solid, domains)):
                resources.take(bundle, rank, taken)
                number += 1
    return number


def _deal(node: Node, wanted: Sequence[tuple[Bundle, int]], inside: Mapping[Bundle, int], resources: FreeResources) -> None:
    """Assign pieces inside NUMA domains of one node, by a searched packing."""
    domains, free = numa_domains(node, wanted[0][0].kind), resources.free
    pieces: list[Bundle] = []
    for bundle, count in wanted:
        left = count * bundle.unit // bundle.piece
        for mask in domains:
            left -= resources.fill_up(bundle, inside[bundle], bundle.piece, left, node.rank, mask)
        pieces += [bundle] * left
    chosen = pack_into_domains([(free.get(node.rank, 0) & mask).bit_count() for mask in domains], [bundle.piece for bundle in pieces])
    if chosen is None:
        raise ExpansionFailed(f"the NUMA domains of node {node.rank} do not hold {len(pieces)} pieces")
    for bundle, number in zip(pieces, chosen):
        resources.take(bundle, node.rank, lowest_resources(free[node.rank] & domains[number], bundle.piece, 1, solid=False))
