"""What is counted: bundles (components on the same resources) into cells (nodes that are interchangeable)."""

from __future__ import annotations

from typing import Mapping

from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from .bundle import Bundle
from .cell import Cell
from .cells.allowed_nodes import eligible_nodes
from .cells.exactness import rounded
from .cells.partition import cells_of
from .cells.room import Room
from .dealing import dealt
from .neighbours import Neighbours
from .parts import Parts
from .pool import Masks, Pool
from .pools import pools
from .values import Count, Values
from .within.shared import shared

__all__ = ["Bundle", "Cell", "Count", "Layout", "Masks", "Pool", "Values", "domains_of"]


class Layout(Parts):
    """The bundles and cells of a problem and what is free on its nodes: the structure that every encoding shares.

    Attributes
    ----------
    pools : what is competed for; `pool_of` says for which of them a searched bundle does.
    shared : those of them that have some of their resources in common with others, and not all: there numbers on single nodes count.
    eligible : searched bundle -> the ranks of the nodes where it may be, by its groups, models, memory and what is excluded.
    cells : nodes that are interchangeable; `cell_of` finds that of a node by its rank.
    neighbours : which nodes are in the same domains of the topology.
    counts : the decisions on counted bundles, and on processes that are dealt out to nodes. In a cell of several nodes where a bundle may
        not be, there is none: it is 0.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.dealt = {each.bundle.name: each for each in dealt(self)}
        self.on_nodes = {name: runs for name, runs in self.on_nodes.items() if name not in self.dealt}
        self.pools = pools(self)
        self.shared = shared(self.pools)
        self.pool_of = {bundle: pool for pool in self.pools for bundle in pool.bundles}
        self.eligible = {bundle: eligible_nodes(self, bundle) for bundle in self.searched}
        self.cells = cells_of(self, self.pools, self.eligible)
        self.cell_of = {node.rank: cell for cell in self.cells for node in cell.nodes}
        counted = (Count(bundle, cell) for bundle in self.counted for cell in self.cells if self._is_open(bundle, cell))
        processes = (Count(its.bundle, cell) for its in self.dealt.values() for cell in self.cells if cell.nodes[0].rank in its.nodes)
        self.counts = (*counted, *processes)
        self.neighbours = Neighbours(problem.cluster)
        self._domains: dict[str, dict[str, tuple[Cell, ...]]] = {}
        self._rooms: dict[tuple[Cell, Pool], Room] = {}
        self._taken: dict[tuple[Cell, Pool], Mapping[int, int]] = {}

    @property
    def has_chosen_given(self) -> bool:
        """True if components are by choice where given ones are, so that their place counts though nothing decides it."""
        chosen = {name for each in self.problem.job.relations if each.demanded for name in each.components}
        return any(bundle.fixed and not chosen.isdisjoint(c.name for c in bundle.components) for bundle in self.bundles)

    def _is_open(self, bundle: Bundle, cell: Cell) -> bool:
        return len(cell.nodes) == 1 or cell.nodes[0].rank in self.eligible[bundle]

    def room(self, cell: Cell, pool: Pool) -> Room:
        """What the pool has on the nodes of a cell."""
        key = (cell, pool)
        if key not in self._rooms:
            self._rooms[key] = Room(pool, cell.nodes)
        return self._rooms[key]

    def capacity(self, cell: Cell, pool: Pool, size: int) -> int:
        """How many pieces of `size` resources of the pool the cell's nodes have, each piece on one node."""
        return self.room(cell, pool).pieces(size)

    def taken(self, bundle: Bundle, cell: Cell) -> int:
        """What a unit of a counted bundle takes on a node of the cell, in the rows that say what fits (see cells/exactness.py)."""
        pool = self.pool_of[bundle]
        if len(cell.nodes) == 1 or pool.host is not None:
            return bundle.unit
        if (cell, pool) not in self._taken:
            here = [each.unit for each in pool.counted if cell.nodes[0].rank in self.eligible[each]]
            self._taken[cell, pool] = rounded(here, self.room(cell, pool).free) or {}
        return self._taken[cell, pool].get(bundle.unit, bundle.unit)

    def domains(self, level: str) -> dict[str, tuple[Cell, ...]]:
        """The cells in each domain of a topology level above the node. Raises ValueError for another level."""
        if level not in LEVELS:
            raise ValueError(f"{level} is not a level of the topology")
        if level not in self._domains:
            found: dict[str, list[Cell]] = {}
            for cell in self.cells:
                found.setdefault(cell.domain(level), []).append(cell)
            self._domains[level] = {name: tuple(cells) for name, cells in found.items()}
        return self._domains[level]


def domains_of(layout: Layout, level: str) -> dict[str, tuple[Cell, ...]]:
    """The cells in each domain of a topology level above the node. Raises ValueError for another level."""
    return layout.domains(level)
