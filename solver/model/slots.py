"""What is left for counted bundles beside the contiguous ones of their pool, in whole pieces."""

from __future__ import annotations

from typing import Mapping

from ...models.machines.node import Node
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.cells.room import numa_domains
from ..layout.layout import Layout
from ..layout.masks import bits
from ..layout.pool import Pool
from .amount import Amount, total
from .ranges import Ranges
from .saying import Saying


class Slots:
    """Room for pieces of every size, cell by cell."""

    def __init__(self, saying: Saying, layout: Layout, ranges: Mapping[Bundle, Ranges]) -> None:
        self._saying, self._layout, self._ranges = saying, layout, ranges
        self._slots: dict[tuple[Cell, Pool, int, bool], Amount] = {}

    def slots(self, cell: Cell, pool: Pool, size: int, inside_numa: bool) -> Amount:
        """The sum of floor(left / size) over the nodes of a cell, or over their NUMA domains."""
        key = (cell, pool, size, inside_numa)
        if key not in self._slots:
            if not pool.ranged:
                self._slots[key] = self._layout.room(cell, pool).pieces(size, inside_numa)
            elif inside_numa:
                each = [(node, mask) for node in cell.nodes for mask in numa_domains(node, pool.kind)]
                self._slots[key] = total(self._in_domain(node, mask, pool, size) for node, mask in each)
            elif all(bundle.unit % size == 0 for bundle in pool.ranged):
                # A range takes whole pieces of every node, so that nothing is lost where it begins and ends.
                taken = total(bundle.unit // size * self._ranges[bundle].units(cell) for bundle in pool.ranged)
                self._slots[key] = self._layout.room(cell, pool).pieces(size) - taken
            else:
                self._slots[key] = total(self._on_node(node.rank, pool, size) for node in cell.nodes)
        return self._slots[key]

    def _on_node(self, node: int, pool: Pool, size: int) -> Amount:
        free = pool.free.get(node, 0).bit_count()
        held = total(self._ranges[bundle].held_on(node) for bundle in pool.ranged)
        if isinstance(held, int):
            return (free - held) // size
        left = self._saying.integer(0, free // size, f"slots of {size} on node {node}")
        self._saying.require(size * left + held <= free)
        return left

    def _in_domain(self, node: Node, mask: int, pool: Pool, size: int) -> Amount:
        left = self._left(node, mask, pool)
        if isinstance(left, int):
            return left // size
        free = (pool.free.get(node.rank, 0) & mask).bit_count()
        count = self._saying.integer(0, free // size, f"slots of {size} in a NUMA domain of node {node.rank}")
        self._saying.require(size * count <= left)
        return count

    def _left(self, node: Node, mask: int, pool: Pool) -> Amount:
        free = pool.free.get(node.rank, 0) & mask
        return free.bit_count() - total(self._ranges[bundle].covers(node.rank, index) for bundle in pool.ranged for index in bits(free))

    def left_in_domains(self, node: Node, pool: Pool) -> list[Amount]:
        """What is left in each NUMA domain of a node."""
        return [self._left(node, mask, pool) for mask in numa_domains(node, pool.kind)]

    def pieces_by_domain(self, bundle: Bundle, node: Node, units: Amount) -> list[Amount]:
        """How the pieces of so many units on a node are dealt to its NUMA domains."""
        masks, free = numa_domains(node, bundle.kind), self._layout.pool_of[bundle].free.get(node.rank, 0)
        rooms = [(free & mask).bit_count() // bundle.piece for mask in masks]
        its: list[Amount] = [self._saying.integer(0, room, f"pieces of {bundle.name} in a NUMA domain") for room in rooms]
        self._saying.require(bundle.unit // bundle.piece * units == total(its))
        return its
