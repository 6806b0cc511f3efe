"""Layout of a problem: counts of bundles per cell, and places of ranges.

Other components are spread evenly over their nodes by arithmetic, without a search.
"""

from __future__ import annotations

from math import lcm
from typing import Iterator, Mapping, Sequence

from ...models.component import BETWEEN_DOMAINS, NOT_FEWER, UNBOUNDED, WHOLE, Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, domains
from ...models.memory.work import whole_groups
from ...models.problem import Problem
from ...models.record import dataclass
from .bundle import Bundle
from .cells import Cell, CellCapacity, cells_of, find_shared_pools, reservations, round_sizes
from .parts import BundleLayout, Dealt, Neighbours
from .pools import Masks, NodePool, eligible_nodes, nodes_in_reach, pools

Values = dict[object, object]
"""Decision -> value.

A Count has units; a contiguous Bundle has (first resource rank, units).
"""
__all__ = ["Bundle", "Cell", "Count", "Layout", "Masks", "NodePool", "Values"]


@dataclass(frozen=True)
class Count:
    """Decision on the units of a bundle in a cell."""

    bundle: Bundle
    cell: Cell


def dealt(parts: BundleLayout) -> Iterator[Dealt]:
    """Yield the components with processes dealt out to searched nodes.

    They have pins, spread, links, comparisons of domains, or reservations that an even share might
    not fit.
    """
    problem = parts.problem
    for component in (c for c in problem.hinted if problem.kind(c) == NODE):
        even = parts.on_nodes[component.name]
        nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
        if even and (needs_searched_nodes(problem, component) or _may_be_short(parts, component, nodes)):
            most = sum(len(run.ranks) for run in even)
            fewest = min(component.least, most) if component.most < UNBOUNDED else most
            yield Dealt(Bundle((component,), NODE), most, fewest, nodes, even)


def needs_searched_nodes(problem: Problem, component: Component) -> bool:
    """Return True if a demand or relation concerns the nodes of the component."""
    comparisons = (component.name in relation.components for kind in BETWEEN_DOMAINS for relation in problem.find_relations(kind))
    keeps_whole = any(keep.unit == WHOLE for keep in component.keep)
    count_relations = (component.name in relation.components for relation in problem.find_relations(NOT_FEWER))
    is_counted = component.least < component.most < UNBOUNDED and any(count_relations)
    return keeps_whole or is_counted or bool(component.pins or component.spread) or any(comparisons) or _is_linked(problem, component)


def _is_linked(problem: Problem, component: Component) -> bool:
    """Return True if the component's traffic or links depend on its nodes."""
    has_links = any(component.name in (link.source, link.target) and link.source != link.target for link in problem.job.links)
    return (has_links or component.traffic > 0) and any(len(domains(problem.cluster, level)) > 1 for level in LEVELS)


def _may_be_short(parts: BundleLayout, component: Component, nodes: frozenset[int]) -> bool:
    if not component.cpus and not component.host_memory:
        return False
    reserves = reservations(parts)
    return any(reservation.may_be_short(parts.problem.cluster.nodes[node]) for reservation in reserves for node in sorted(nodes))


class Layout(BundleLayout):
    """Bundles, cells and free resources of a problem, shared by all encodings.

    Attributes
    ----------
    pools : resources in competition; `pool_of` maps a searched bundle to its pool.
    shared : pools with some resources in common with others, and not all: there, counts on single
        nodes matter.
    eligible : searched bundle -> ranks of the nodes open to it, by groups, models, memory and
        exclusions.
    cells : interchangeable nodes; `cell_of` maps a node rank to its cell.
    neighbours : nodes in the same domains of the topology.
    counts : decisions on counted bundles, and on processes dealt out to nodes. A cell of several
        nodes where a bundle may not be has none: its count is 0.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.dealt = {entry.bundle.name: entry for entry in dealt(self)}
        self.on_nodes = {name: runs for name, runs in self.on_nodes.items() if name not in self.dealt}
        self.pools = pools(self)
        self.shared = find_shared_pools(self.pools)
        self.pool_of = {bundle: pool for pool in self.pools for bundle in pool.bundles}
        self.eligible = {bundle: eligible_nodes(self, bundle) for bundle in self.searched}
        self.cells = cells_of(self, self.pools, self.eligible)
        self.cell_of = {node.rank: cell for cell in self.cells for node in cell.nodes}
        counts = (Count(bundle, cell) for bundle in self.counted for cell in self.cells if self._is_open(bundle, cell))
        processes = (Count(entry.bundle, cell) for entry in self.dealt.values() for cell in self.cells if cell.nodes[0].rank in entry.nodes)
        self.counts = (*counts, *processes)
        self.neighbours = Neighbours(problem.cluster)
        self._domains: dict[str, dict[str, tuple[Cell, ...]]] = {}
        self._rooms: dict[tuple[Cell, NodePool], CellCapacity] = {}
        self._taken: dict[tuple[Cell, NodePool], Mapping[int, int]] = {}

    @property
    def has_chosen_given(self) -> bool:
        """True if components share with given ones by choice.

        Their place counts although no decision depends on it.
        """
        names = {name for relation in self.problem.job.relations if relation.demanded for name in relation.components}
        return any(bundle.fixed and not names.isdisjoint(c.name for c in bundle.components) for bundle in self.bundles)

    def _is_open(self, bundle: Bundle, cell: Cell) -> bool:
        return len(cell.nodes) == 1 or cell.nodes[0].rank in self.eligible[bundle]

    def room(self, cell: Cell, pool: NodePool) -> CellCapacity:
        """Return the pool's free resources on the nodes of a cell."""
        key = (cell, pool)
        if key not in self._rooms:
            self._rooms[key] = CellCapacity(pool, cell.nodes)
        return self._rooms[key]

    def capacity(self, cell: Cell, pool: NodePool, size: int) -> int:
        """Return the number of slots of `size` for the pool on the cell's nodes.

        A slot lies on a single node.
        """
        return self.room(cell, pool).pieces(size)

    def count_enclosed(self, bundle: Bundle, cell: Cell) -> int:
        """Return the cell's resources of given bundles inside a searched bundle.

        A cell with any of these is a single node.
        """
        return self.enclosed.get(bundle, {}).get(cell.nodes[0].rank, 0).bit_count()

    def pieces(self, bundle: Bundle, cell: Cell, size: int) -> int:
        """Return the number of slots of `size` for a searched bundle alone in the cell.

        A slot lies on a single node.
        """
        if inner_count := self.count_enclosed(bundle, cell):
            return (self.capacity(cell, self.pool_of[bundle], 1) + inner_count) // size
        return self.capacity(cell, self.pool_of[bundle], size)

    def count_taken(self, bundle: Bundle, cell: Cell) -> int:
        """Return a counted bundle's unit size in the capacity rows of the cell.

        Sizes may be rounded on several nodes (see `rounded` in `layout/cells.py`).
        """
        pool = self.pool_of[bundle]
        if len(cell.nodes) == 1 or pool.host is not None:
            return bundle.unit
        if (cell, pool) not in self._taken:
            sizes = [peer.unit for peer in pool.counted if cell.nodes[0].rank in self.eligible[peer]]
            self._taken[cell, pool] = round_sizes(sizes, self.room(cell, pool).free) or {}
        return self._taken[cell, pool].get(bundle.unit, bundle.unit)

    def domains(self, level: str) -> dict[str, tuple[Cell, ...]]:
        """Return the cells of every domain at a level above the node.

        Raises ValueError for another level.
        """
        if level not in LEVELS:
            raise ValueError(f"{level} is not a level of the topology")
        if level not in self._domains:
            by_domain: dict[str, list[Cell]] = {}
            for cell in self.cells:
                by_domain.setdefault(cell.domain(level), []).append(cell)
            self._domains[level] = {name: tuple(cells) for name, cells in by_domain.items()}
        return self._domains[level]


def eligible(layout: Layout, bundle: Bundle) -> list[Cell]:
    """Return the cells eligible for a bundle.

    Their accelerators have the memory for all members together.
    """
    nodes = layout.eligible[bundle]
    return [cell for cell in layout.cells if cell.nodes[0].rank in nodes]


def reach_free(layout: Layout, bundle: Bundle, free: Masks) -> Masks:
    """Return the free resources on the nodes in the bundle's reach."""
    nodes = nodes_in_reach(layout, bundle)
    return {node: mask for node, mask in free.items() if node in nodes}


def list_allowed(layout: Layout, bundle: Bundle, limit: int) -> Sequence[int]:
    """Return the unit counts up to `limit` that satisfy all members, ascending."""
    step = lcm(bundle.unit, *(component.step for component in bundle.components)) // bundle.unit
    every = range(-(-bundle.least // step) * step, min(bundle.most, limit) + 1, step)
    names = {component.name for component in bundle.components}
    if not any(share.component in names for share in layout.problem.shares) and not any(map(is_uneven, bundle.components)):
        return every
    return tuple(units for units in every if all(fits(layout.problem, component, units * bundle.unit) for component in bundle.components))


def fits(problem: Problem, component: Component, resources: int) -> bool:
    """Return True if the component accepts this many resources, with even shares."""
    return component.may_have(resources) and even(problem, component, resources)


def even(problem: Problem, component: Component, resources: int) -> bool:
    """Return True if all shares and shard groups of the component come out whole."""
    processes = resources // component.per_process
    if not whole_groups(component.divided_among, resources, component.parallel):
        return False
    return all(share.divides(processes) for share in problem.shares if share.component == component.name)


def is_uneven(component: Component) -> bool:
    """Return True if the component may exclude some of its multiples."""
    return bool(component.counts) or component.divided_among > 0
