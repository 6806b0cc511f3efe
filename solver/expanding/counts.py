"""Counts become resources of nodes: cell by cell, the largest units first."""

from __future__ import annotations

from types import MappingProxyType
from typing import Iterable, Iterator, Mapping, Sequence

from ...models.machines.node import Node
from ..layout.bundle import Bundle
from ..layout.cells import Cell, is_chain, numa_domains
from ..layout.parts import bits, lowest, solid_range
from ..layout.pools import Pool

Domains = Sequence[int]
"""The NUMA domains of a node as bit masks."""


Held = dict[int, int]
"""node rank -> the resources that a bundle holds there, as a bit mask."""


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


class ExpansionFailed(Exception):
    """Values were accepted that no node can hold: a fault of ours, never of the input."""


def count_out(
    pool: Pool, counts: Mapping[Bundle, Sequence[tuple[Cell, int]]], free: Held, held: dict[Bundle, Held],
    enclosed: Mapping[Bundle, Mapping[int, int]] = MappingProxyType({}),
) -> None:  # fmt: skip
    """Give every counted bundle of a pool its resources of each node: takes them out of `free` and notes them in `held`.

    `enclosed`: what given ones hold that lie within a bundle; it is filled up to whole units first.
    """
    there: dict[Cell, list[tuple[Bundle, int]]] = {}
    for bundle, its in counts.items():
        for cell, count in its:
            there.setdefault(cell, []).append((bundle, count))
    numa = any(bundle.piece > 1 for bundle in pool.bundles)
    for cell, wanted in there.items():
        pieces = [bundle.piece for bundle, _ in wanted if bundle.piece > 1]
        first = cell.nodes[0]
        inside = {bundle: enclosed.get(bundle, {}).get(first.rank, 0) for bundle, _ in wanted}
        if len(cell.nodes) == 1 and (not is_chain(pieces) or any(inside[bundle] for bundle, _ in wanted if bundle.piece > 1)):
            _deal(first, wanted, inside, free, held)
            wanted = [each for each in wanted if each[0].piece == 1]
        for bundle, count in sorted(wanted, key=lambda each: _order(cell, each[0])):
            left = count - _filled_up(bundle, inside[bundle], bundle.unit, count, first.rank, first.whole(bundle.kind), free, held)
            for node, taken in _units(bundle, left, _nodes(cell, numa, pool), free):
                held[bundle][node] = held[bundle].get(node, 0) | taken
                left -= 1
            if left:
                raise ExpansionFailed(f"{left} units of {bundle.name} have no place in {cell.name}")


def _filled_up(bundle: Bundle, inside: int, size: int, most: int, node: int, domain: int, free: Held, held: dict[Bundle, Held]) -> int:
    """Fill what given ones within a bundle hold in a domain of a node up to whole pieces of a size; how many these are, `most` at most."""
    pieces = -(-(inside & domain).bit_count() // size)
    lacks = pieces * size - (inside & domain).bit_count()
    taken = lowest(free.get(node, 0) & domain, lacks)
    if taken.bit_count() < lacks or pieces > most:
        raise ExpansionFailed(f"node {node} has no room for whole groups of {bundle.name} around given ranks")
    if pieces:
        free[node] = free.get(node, 0) & ~taken
        held[bundle][node] = held[bundle].get(node, 0) | taken
    return pieces


def _order(cell: Cell, bundle: Bundle) -> tuple[int, ...]:
    """The largest first; on a single node what lies inside NUMA domains before what need not."""
    return (-bundle.unit, -bundle.piece) if len(cell.nodes) > 1 else (-bundle.piece, -bundle.unit)


def _nodes(cell: Cell, numa: bool, pool: Pool) -> Iterable[tuple[int, Sequence[int]]]:
    """(rank, its NUMA domains if they matter) of the nodes of a cell."""
    for node in cell.nodes:
        yield node.rank, numa_domains(node, pool.kind) if numa else ()


def _units(bundle: Bundle, count: int, nodes: Iterable[tuple[int, Sequence[int]]], free: Held) -> Iterator[tuple[int, int]]:
    """(node, the resources of one unit), as many as there are up to `count`; they are taken out of `free`."""
    nodes = [(rank, domains) for rank, domains in nodes if free.get(rank, 0).bit_count() >= bundle.unit]
    for solid in (True, False):  # a text can say a process on solid ranges alone; any order of nodes will do
        for rank, domains in nodes:
            while count and (taken := unit_of(free[rank], bundle, solid, domains)):
                free[rank] &= ~taken
                yield rank, taken
                count -= 1
            if not count:
                return


def _deal(node: Node, wanted: Sequence[tuple[Bundle, int]], inside: Mapping[Bundle, int], free: Held, held: dict[Bundle, Held]) -> None:
    """Pieces inside NUMA domains whose sizes are no chain: tried out on the one node of their cell."""
    bound = [(bundle, count) for bundle, count in wanted if bundle.piece > 1]
    domains = numa_domains(node, bound[0][0].kind)
    pieces: list[Bundle] = []
    for bundle, count in bound:
        left = count * bundle.unit // bundle.piece
        for mask in domains:
            left -= _filled_up(bundle, inside[bundle], bundle.piece, left, node.rank, mask, free, held)
        pieces += [bundle] * left
    chosen = dealt([(free.get(node.rank, 0) & mask).bit_count() for mask in domains], [bundle.piece for bundle in pieces])
    if chosen is None:
        raise ExpansionFailed(f"the NUMA domains of node {node.rank} do not hold {len(pieces)} pieces")
    for bundle, number in zip(pieces, chosen):
        taken = some_of(free[node.rank] & domains[number], bundle.piece, 1, solid=False)
        free[node.rank] &= ~taken
        held[bundle][node.rank] = held[bundle].get(node.rank, 0) | taken
