"""Layout of a problem: bundles into cells, and ranges at places.

All others are spread evenly over their nodes by arithmetic, and nothing is searched.
"""

from __future__ import annotations

from math import lcm
from typing import Iterator, Mapping, Sequence

from ...models.component import BETWEEN_DOMAINS, NOT_FEWER, UNBOUNDED, Component
from ...models.locality import WHOLE
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, domains
from ...models.memory.work import whole_groups
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Bundle
from .cells import Cell, Room, cells_of, reservations, rounded, shared
from .parts import Dealt, Neighbours, Parts
from .pools import Masks, Pool, eligible_nodes, nodes_in_reach, pools

Values = dict[object, object]
"""Decision -> value. Keys are Counts (value: units) and contiguous Bundles (value: (first resource rank, units))."""
__all__ = ["Bundle", "Cell", "Count", "Layout", "Masks", "Pool", "Values", "domains_of"]


@dataclass(frozen=True)
class Count:
    """A decision: how many units of a bundle are in a cell."""

    bundle: Bundle
    cell: Cell


def dealt(parts: Parts) -> Iterator[Dealt]:
    """The components whose processes are dealt out: those that are pinned, spread, linked, or compared with others by their domains.

    And those that reserve something of their nodes of which the even share might be too much.
    """
    problem = parts.problem
    for component in (c for c in problem.hinted if problem.kind(c) == NODE):
        even = parts.on_nodes[component.name]
        nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
        if even and (depends(problem, component) or _may_be_short(parts, component, nodes)):
            most = sum(len(run.ranks) for run in even)
            fewest = min(component.least, most) if component.most < UNBOUNDED else most
            yield Dealt(Bundle((component,), NODE), most, fewest, nodes, even)


def depends(problem: Problem, component: Component) -> bool:
    """Is something asked of the nodes of the component themselves?"""
    compared = (component.name in relation.components for kind in BETWEEN_DOMAINS for relation in problem.related(kind))
    kept = any(keep.what == WHOLE for keep in component.keep)
    counted = (component.name in relation.components for relation in problem.related(NOT_FEWER))
    is_counted = component.least < component.most < UNBOUNDED and any(counted)
    return kept or is_counted or bool(component.pins or component.spread) or any(compared) or _is_linked(problem, component)


def _is_linked(problem: Problem, component: Component) -> bool:
    """Does what its processes exchange, or other components with them, depend on its nodes?"""
    linked = any(component.name in (link.source, link.target) and link.source != link.target for link in problem.job.links)
    return (linked or component.traffic > 0) and any(len(domains(problem.cluster, level)) > 1 for level in LEVELS)


def _may_be_short(parts: Parts, component: Component, nodes: frozenset[int]) -> bool:
    if not component.cpus and not component.host_memory:
        return False
    reserved = reservations(parts)
    return any(each.may_be_short(parts.problem.cluster.nodes[node]) for each in reserved for node in sorted(nodes))


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

    def enclosed_in(self, bundle: Bundle, cell: Cell) -> int:
        """How many resources of the cell given bundles hold that lie within a searched one; the cell is a single node if there are any."""
        return self.enclosed.get(bundle, {}).get(cell.nodes[0].rank, 0).bit_count()

    def pieces(self, bundle: Bundle, cell: Cell, size: int) -> int:
        """How many pieces of `size` resources a searched bundle could hold in the cell, were it alone, each piece on one node."""
        if enclosed := self.enclosed_in(bundle, cell):
            return (self.capacity(cell, self.pool_of[bundle], 1) + enclosed) // size
        return self.capacity(cell, self.pool_of[bundle], size)

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


def eligible(layout: Layout, bundle: Bundle) -> list[Cell]:
    """Cells whose accelerators have the memory that all members need together."""
    nodes = layout.eligible[bundle]
    return [cell for cell in layout.cells if cell.nodes[0].rank in nodes]


def within_reach(layout: Layout, bundle: Bundle, free: Masks) -> Masks:
    """What is free on the nodes that the bundle may use at all."""
    nodes = nodes_in_reach(layout, bundle)
    return {node: mask for node, mask in free.items() if node in nodes}


def allowed(layout: Layout, bundle: Bundle, room: int) -> Sequence[int]:
    """Every number of units up to `room` that satisfies all members of a searched bundle, ascending."""
    step = lcm(bundle.unit, *(component.step for component in bundle.components)) // bundle.unit
    every = range(-(-bundle.least // step) * step, min(bundle.most, room) + 1, step)
    names = {component.name for component in bundle.components}
    if not any(share.component in names for share in layout.problem.shares) and not any(map(is_uneven, bundle.components)):
        return every
    return tuple(units for units in every if all(fits(layout.problem, each, units * bundle.unit) for each in bundle.components))


def fits(problem: Problem, component: Component, resources: int) -> bool:
    """Does it ask for so many, and is all of it even?"""
    return component.may_have(resources) and even(problem, component, resources)


def even(problem: Problem, component: Component, resources: int) -> bool:
    """Do all shares of the component come out even, and its ranks as whole groups of shards, with so many resources?"""
    processes = resources // component.per_process
    if not whole_groups(component.divided_among, resources, component.parallel):
        return False
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def is_uneven(component: Component) -> bool:
    """May it have some of its multiples and not others?"""
    return bool(component.counts) or in_groups(component)


def in_groups(component: Component) -> bool:
    """Do its ranks shard in groups?"""
    return component.divided_among > 0
