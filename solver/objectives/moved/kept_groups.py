"""How many groups stay where they were, in the solver's words: node by node where that matters."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Iterator

from ....models.machines.node import Node
from ...layout.cells.room import numa_domains
from ...layout.masks import bits
from .pieces import Piece

if TYPE_CHECKING:
    from ...layout.bundle import Bundle
    from ...layout.cell import Cell
    from ...layout.pool import Pool
    from ...model.amount import Amount
    from ...model.variables import Variables

Held = dict[int, list[Piece]]
"""node rank -> pieces there."""
Holdings = dict["Bundle", Held]
"""The pieces that the bundles of a pool could keep."""


def kept_in(variables: Variables, pool: Pool, cell: Cell, holdings: Holdings) -> Iterator[tuple[Bundle, Amount]]:
    """(bundle, how many of its pieces the cell keeps), with all that this needs.

    On a node that is a cell the counts decide, unless NUMA domains matter. Elsewhere the units of each node are counted here: kept ones
    and others have room on it together. Nodes where nothing is to be kept stay one where rows over all of them are exact.
    """
    counted, alone = _counted(variables, pool, cell), bool(pool.ranged) or _numa(pool)
    parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted}
    totals: dict[Bundle, list[Amount]] = {bundle: [] for bundle in counted if bundle in holdings}
    together = []
    for node in cell.nodes:
        there = {bundle: its[node.rank] for bundle, its in holdings.items() if node.rank in its and bundle in parts}
        if len(cell.nodes) > 1 and not there and not alone:
            together.append(node.rank)
            continue
        on_node = _OnNode(variables, pool, node, there)
        kept, free = on_node.kept(), pool.free.get(node.rank, 0).bit_count()
        for bundle, amount in kept.items():
            totals[bundle].append(amount)
        if len(cell.nodes) == 1:
            others = {bundle: variables.units(bundle, cell) - kept.get(bundle, 0) for bundle in counted}
            for amount in others.values():
                variables.at_most(0, amount)
        else:
            others = {b: variables.integer(0, free // b.unit, f"other {b.name} on {node.rank}") for b in counted}
            for bundle, amount in others.items():
                parts[bundle].append(variables.total([kept.get(bundle, 0), amount]))
            load = [bundle.unit * its[-1] for bundle, its in parts.items()]
            variables.at_most(variables.total([*load, *(variables.accelerators_on(b, node.rank) for b in pool.ranged)]), free)
        if _numa(pool):
            on_node.has_room_in_domains(others)
    if len(cell.nodes) > 1:
        _are_all(variables, cell, parts, {node: pool.free.get(node, 0).bit_count() for node in together})
    yield from ((bundle, variables.total(its)) for bundle, its in totals.items())


def _are_all(variables: Variables, cell: Cell, parts: dict[Bundle, list[Amount]], room: dict[int, int]) -> None:
    """The units of the cell are those on these nodes, and some on others that have so much room and keep nothing."""
    slots = {size: sum(free // size for free in room.values()) for size in sorted({bundle.unit for bundle in parts})}
    rest = {bundle: variables.integer(0, slots[bundle.unit], f"{bundle.name} elsewhere in {cell.name}") for bundle in parts}
    for size, free in slots.items():
        variables.at_most(variables.total(b.unit // size * amount for b, amount in rest.items() if b.unit >= size), free)
    for bundle, its in parts.items():
        variables.require(variables.units(bundle, cell) == variables.total([*its, rest[bundle]]), f"{bundle.name} in {cell.name}")


def _counted(variables: Variables, pool: Pool, cell: Cell) -> list[Bundle]:
    """The counted bundles of the pool that may be in the cell."""
    return [bundle for bundle in pool.counted if not isinstance(variables.units(bundle, cell), int)]


def _numa(pool: Pool) -> bool:
    """Do NUMA domains decide what fits on a node?"""
    return any(bundle.piece > 1 for bundle in pool.bundles)


class _OnNode:
    """What one node keeps: a number of each bundle's pieces there, or where it matters which ones, each of them or not."""

    def __init__(self, variables: Variables, pool: Pool, node: Node, there: dict[Bundle, list[Piece]]) -> None:
        self.variables, self.pool, self.node, self.there = variables, pool, node, there
        self.literals: list[tuple[Bundle, int, Amount]] = []
        if pool.ranged or _numa(pool) or overlap([piece for pieces in there.values() for piece in pieces]):
            name = f"kept on {node.rank}"
            self.literals = [(b, mask, variables.boolean(f"{b.name} {name}")) for b, pieces in there.items() for _, mask in pieces]

    def kept(self) -> dict[Bundle, Amount]:
        """Of each bundle, how many of its pieces stay."""
        variables, rank = self.variables, self.node.rank
        if not self.literals:
            return {b: variables.integer(0, len(pieces), f"{b.name} kept on {rank}") for b, pieces in self.there.items()}
        for index in bits(reduce(or_, (mask for _, mask, _ in self.literals))):
            here = [literal for _, mask, literal in self.literals if mask >> index & 1]
            variables.at_most(variables.total([*here, *(variables.covers(other, rank, index) for other in self.pool.ranged)]), 1)
        return {bundle: variables.total(literal for b, _, literal in self.literals if b is bundle) for bundle in self.there}

    def has_room_in_domains(self, others: dict[Bundle, Amount]) -> None:
        """What is placed anew inside NUMA domains has room there beside what stays and beside the ranges."""
        variables, rank = self.variables, self.node.rank
        parts: dict[Bundle, list[Amount]] = {bundle: [] for bundle in others if bundle.piece > 1}
        for number, domain in enumerate(numa_domains(self.node, self.pool.kind)):
            free = self.pool.free.get(rank, 0) & domain
            load = [(mask & domain).bit_count() * literal for _, mask, literal in self.literals]
            load += [variables.covers(other, rank, index) for other in self.pool.ranged for index in bits(free)]
            for bundle, its in parts.items():
                its.append(variables.integer(0, free.bit_count() // bundle.piece, f"pieces of {bundle.name} in {number} of {rank}"))
                load.append(bundle.piece * its[-1])
            variables.at_most(variables.total(load), free.bit_count())
        for bundle, its in parts.items():
            variables.require(variables.total(its) == bundle.unit // bundle.piece * others[bundle], f"{bundle.name} on {rank}")


def overlap(pieces: list[Piece]) -> bool:
    """Do two of these pieces have a resource in common?"""
    seen: dict[int, int] = {}
    for node, mask in pieces:
        if mask & seen.get(node, 0):
            return True
        seen[node] = seen.get(node, 0) | mask
    return False
