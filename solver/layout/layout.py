"""What is counted: bundles (components on the same resources) into cells (nodes that are interchangeable)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Sequence

from ...models.component import UNBOUNDED, Component
from ...models.machines.cluster import Node
from ...models.machines.node_group import NODE, Numbering
from ...models.machines.topology import LEVELS, domain, path
from ...models.placements.assignment import Assignment, Run
from ...models.problem import Problem
from .pools import Pool, hosts_of, pools
from .spread import spread_over_nodes


@dataclass(frozen=True, eq=False)
class Bundle:
    """Components that share their resources: one thing to place, in units that one node holds whole.

    Two bundles are the same only if they are the same object. `solid_in` names the node groups in whose numbering it must
    be one solid range; None if it need not. `whole` is what one node must hold together beside its groups: whole replicas.
    """

    components: tuple[Component, ...]
    kind: str
    solid_in: tuple[str, ...] | None = None
    whole: int = 1

    @cached_property
    def name(self) -> str:
        """The names of its components."""
        return "+".join(component.name for component in self.components)

    @cached_property
    def unit(self) -> int:
        """Resources that are placed as one piece: what every member's groups divide."""
        return lcm(self.whole, *(component.unit for component in self.components))

    @cached_property
    def least(self) -> int:
        """Fewest units that satisfy the members' amounts."""
        return max(-(-component.least // self.unit) for component in self.components)

    @cached_property
    def most(self) -> int:
        """Most units that do."""
        return min(component.most for component in self.components) // self.unit

    @property
    def bounded(self) -> bool:
        """Did anybody say how large it may become?"""
        return min(component.most for component in self.components) < UNBOUNDED

    @property
    def contiguous(self) -> bool:
        """Must it be one solid range?"""
        return self.solid_in is not None

    @cached_property
    def fixed(self) -> Component | None:
        """The member whose ranks are given, if there is one: then all of it is given."""
        return next((component for component in self.components if component.runs is not None), None)


@dataclass(frozen=True, eq=False)
class Cell:
    """Nodes that nothing in the problem tells apart."""

    index: int
    nodes: tuple[Node, ...]

    @property
    def name(self) -> str:
        """A name for messages and logs."""
        first, last = self.nodes[0], self.nodes[-1]
        return first.name if first is last else f"{first.name}..{last.name}"

    def domain(self, level: str) -> str:
        """The domain of a topology level that all its nodes are in."""
        return domain(self.nodes[0], level)


@dataclass(frozen=True)
class Count:
    """A decision: how many units of a bundle are in a cell."""

    bundle: Bundle
    cell: Cell


Values = dict[object, object]
"""Decision -> value. Keys are Counts (value: units) and contiguous Bundles (value: (first resource rank, units))."""


class Layout:
    """The bundles and cells of a problem and what is free on its nodes: the structure that every encoding shares."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        placed = [members for members in problem.colocated_sets if problem.kind(members[0]) != NODE]
        self.bundles = tuple(self._bundle(members) for members in placed)
        self.bundle_of = {component.name: bundle for bundle in self.bundles for component in bundle.components}
        self.on_nodes = self._on_nodes()
        self.fixed = {bundle: self._masks(bundle) for bundle in self.bundles if bundle.fixed}
        self.free = self._free()
        self.hosts = hosts_of(self)
        self.pools = pools(self)
        self.pool_of = {bundle: pool for pool in self.pools for bundle in pool.bundles}
        self.cells = self._cells()
        self.cell_of = {node.rank: cell for cell in self.cells for node in cell.nodes}

    def _bundle(self, members: tuple[Component, ...]) -> Bundle:
        problem = self.problem
        return Bundle(members, problem.kind(members[0]), problem.solid_in(members), lcm(*map(problem.whole_replica, members)))

    @property
    def searched(self) -> tuple[Bundle, ...]:
        """The bundles whose place is to be found."""
        return tuple(bundle for bundle in self.bundles if not bundle.fixed)

    @property
    def counted(self) -> tuple[Bundle, ...]:
        """Those that are counted into cells."""
        return tuple(bundle for bundle in self.searched if not bundle.contiguous)

    @property
    def ranged(self) -> tuple[Bundle, ...]:
        """Those that have a start instead."""
        return tuple(bundle for bundle in self.searched if bundle.contiguous)

    def numbering(self, bundle: Bundle) -> Numbering:
        """The numbering in which a contiguous bundle is one range."""
        return self.problem.cluster.numbering(bundle.solid_in or bundle.components[0].node_groups)

    def capacity(self, cell: Cell, pool: Pool, size: int) -> int:
        """How many pieces of `size` resources of the pool the cell's nodes have, each piece on one node."""
        return sum(pool.free.get(node.rank, 0).bit_count() // size for node in cell.nodes)

    def _on_nodes(self) -> dict[str, Sequence[Run]]:
        """The components that nodes are the resource of: there is nothing to search, they are spread evenly."""
        members = [c for c in self.problem.components if self.problem.kind(c) == NODE]
        return {c.name: c.runs if c.runs is not None else self._spread(c) for c in members}

    def _spread(self, component: Component) -> Sequence[Run]:
        shares = [share for share in self.problem.shares if share.component == component.name]
        return spread_over_nodes(self.problem.cluster, component, shares)

    def _masks(self, bundle: Bundle) -> dict[int, int]:
        member = bundle.fixed
        if member is None or member.runs is None:
            return {}
        masks = Assignment({member.name: member.runs}).masks(member.name)
        return {node: mask for (node, kind), mask in masks.items() if kind == bundle.kind and mask}

    def _free(self) -> dict[tuple[int, str], int]:
        kinds = dict.fromkeys(bundle.kind for bundle in self.bundles)
        free = {(node.rank, kind): node.free(kind) for node in self.problem.cluster.nodes for kind in kinds}
        for component in self.problem.components:
            if component.runs is not None:
                for (node, kind), mask in self.problem.given().masks(component.name).items():
                    if (node, kind) in free:
                        free[node, kind] &= ~mask
        return free

    def _cells(self) -> tuple[Cell, ...]:
        """Nodes with the same place in the topology, hardware and memberships.

        Each node alone where group sizes form no chain, where something lies within what is itself searched, or where the
        CPUs might not do.
        """
        chain = all(_is_chain({b.unit for b in pool.bundles if not b.contiguous}) and pool.host is None for pool in self.pools)
        groups = sorted({c.node_groups for c in self.problem.components})
        members = [self.problem.cluster.members(labels) for labels in groups]
        keyed: dict[tuple[object, ...], list[Node]] = {}
        for node in self.problem.cluster.nodes:
            belongs = tuple(node.rank in its for its in members)
            alone = -1 if chain and not self._may_lack_cpus(node) else node.rank
            key = (path(node), node.accelerator_model, node.accelerator_memory, belongs, alone)
            keyed.setdefault(key, []).append(node)
        return tuple(Cell(index, tuple(nodes)) for index, nodes in enumerate(keyed.values()))

    def _may_lack_cpus(self, node: Node) -> bool:
        """Could what is placed on the node reserve more CPUs than it has, if all that it has were used?"""
        return (
            node.cpus is not None
            and self._reserved
            and sum(self._most_cpus(members, node) for members in self.problem.colocated_sets) > node.cpus
        )

    @cached_property
    def _reserved(self) -> bool:
        return any(component.cpus for component in self.problem.components)

    def _most_cpus(self, members: tuple[Component, ...], node: Node) -> int:
        found = 0
        for component in members if any(component.cpus for component in members) else ():
            runs = component.runs if component.runs is not None else self.on_nodes.get(component.name)
            if runs is None:
                most = node.count(self.problem.kind(component)) // component.per_process
            else:
                most = Assignment({component.name: runs}).processes_on(component.name).get(node.rank, 0)
            found = max(found, component.cpus * most)
        return found


def _is_chain(sizes: set[int]) -> bool:
    """Does every size divide the next larger one?"""
    ordered = sorted(sizes)
    return all(large % small == 0 for small, large in zip(ordered, ordered[1:]))


def domains_of(layout: Layout, level: str) -> dict[str, tuple[Cell, ...]]:
    """The cells in each domain of a topology level."""
    if level not in LEVELS:
        raise ValueError(f"{level} is not a level of the topology")
    found: dict[str, list[Cell]] = {}
    for cell in layout.cells:
        found.setdefault(cell.domain(level), []).append(cell)
    return {name: tuple(cells) for name, cells in found.items()}
