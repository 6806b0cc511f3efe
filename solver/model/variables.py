"""Vocabulary of rules and objectives for CP-SAT.

An amount is an expression, or an int if the value is known: given parts cost nothing and rules need
no `if`.
"""

from __future__ import annotations

from typing import Callable, Sequence

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.machines.node import Node
from ...models.machines.topology import NODE_LEVEL, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cells import Cell, numa_domains
from ..layout.layout import Count, Layout, Values
from ..layout.parts import bits
from ..layout.pools import NodePool
from .amount import Amount, Condition, ConstraintModel, total
from .ranges import Ranges

__all__ = ["Amount", "Condition", "Variables", "total"]


class Variables(ConstraintModel):
    """Decision variables of a problem, and the amounts for rules and objectives."""

    def __init__(self, problem: Problem, layout: Layout | None = None) -> None:
        super().__init__()
        self.problem = problem
        self.layout = layout or Layout(problem)
        self.bundles, self.cells = self.layout.bundles, self.layout.cells
        self._counts = {count: self._count(count.bundle, count.cell) for count in self.layout.counts}
        self._by_place = {(count.bundle, count.cell): variable for count, variable in self._counts.items()}
        self._ranges = {b: Ranges(self.model, self.layout, b) for b in self.layout.ranged}
        for bundle in self.layout.counted:
            if bundle.single:
                self.require(self.units(bundle) <= 1)
        for dealt in self.layout.dealt.values():
            self.require(self.units(dealt.bundle) <= dealt.processes)
            self.require(self.units(dealt.bundle) >= dealt.fewest)
        self._slots: dict[tuple[Cell, NodePool, int, bool], Amount] = {}
        self._present: dict[tuple[str, str, str | Cell], Amount] = {}
        self._touched: dict[tuple[Bundle, str, str], Amount] = {}
        self._wholes: dict[tuple[Bundle, str, str], Amount] = {}

    def _count(self, bundle: Bundle, cell: Cell) -> cp_model.IntVar:
        if dealt := self.layout.dealt.get(bundle.name):
            return self.model.new_int_var(0, dealt.processes, f"processes of {bundle.name} in {cell.name}")
        inner_units = -(-self.layout.count_enclosed(bundle, cell) // bundle.unit)
        most = max(inner_units, self.layout.pieces(bundle, cell, 1) // bundle.unit)
        return self.model.new_int_var(inner_units, most, f"units of {bundle.name} in {cell.name}")

    def bundle(self, component: Component) -> Bundle | None:
        """Return the bundle of the component; None for a component on nodes."""
        return self.layout.bundle_of.get(component.name)

    def units(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """Return the units of a searched bundle in the cell, or in total."""
        if bundle in self._ranges:
            return self._ranges[bundle].units(cell)
        if cell is None:
            return total(self.units(bundle, cell) for cell in self.cells)
        return self._by_place.get((bundle, cell), 0)

    def accelerators(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """Return the resources of the bundle in the cell, or in total."""
        if bundle in self.layout.fixed:
            ranks = None if cell is None else {node.rank for node in cell.nodes}
            masks = self.layout.fixed[bundle].items()
            return sum(mask.bit_count() for node, mask in masks if ranks is None or node in ranks)
        if bundle in self._ranges and cell is not None:
            return self._ranges[bundle].count_held(cell)
        return bundle.unit * self.units(bundle, cell)

    def beside_enclosed(self, bundle: Bundle, cell: Cell) -> Amount:
        """Return a searched bundle's resources in the cell, without given bundles inside."""
        return self.accelerators(bundle, cell) - self.layout.count_enclosed(bundle, cell)

    def processes(self, component: Component) -> Amount:
        """Return the number of processes of the component."""
        runs = self.layout.on_nodes.get(component.name) if component.runs is None else component.runs
        if runs is not None:
            return max((run.ranks.stop for run in runs), default=0)
        if dealt := self.layout.dealt.get(component.name):
            return dealt.processes if dealt.fewest == dealt.processes else self.units(dealt.bundle)
        bundle = self.layout.bundle_of[component.name]
        if bundle in self.layout.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values()) // component.per_process
        return bundle.unit // component.per_process * self.units(bundle)

    # -- domains of the topology

    def accelerators_in(self, bundle: Bundle, level: str, name: str) -> Amount:
        """Return the bundle's resources in a domain above the node."""
        return total(self.accelerators(bundle, cell) for cell in self.layout.domains(level)[name])

    def touches(self, bundle: Bundle, level: str, name: str) -> Amount:
        """Return 1 exactly if some of the bundle is in the domain, else 0."""
        key = (bundle, level, name)
        if key not in self._touched:
            if bundle in self._ranges:
                self._touched[key] = self._ranges[bundle].touches(self.layout.domains(level)[name])
            else:
                amount = self.accelerators_in(bundle, level, name)
                limit = 0 if isinstance(amount, int) else self.room(bundle, level, name)
                self._touched[key] = self._some(amount, limit, f"{bundle.name} touches {name or level}")
        return self._touched[key]

    def _some(self, amount: Amount, limit: int, name: str) -> Amount:
        """Return 1 exactly if an amount of at most `limit` is positive, else 0."""
        if isinstance(amount, int):
            return int(amount > 0)
        indicator = self.boolean(name)
        self.require(amount <= limit * indicator)
        self.require(amount >= indicator)
        return indicator

    def room(self, bundle: Bundle, level: str, name: str) -> int:
        """Return an upper bound on a searched bundle's resources in a domain."""
        return sum(self.layout.pieces(bundle, cell, 1) for cell in self.layout.domains(level)[name])

    def wholes(self, bundle: Bundle, level: str, name: str) -> Amount:
        """Return the whole groups of a searched bundle in a domain above the node.

        A group has `bundle.whole(level)` resources.
        """
        key = (bundle, level, name)
        if key not in self._wholes:
            size, amount = bundle.whole(level), self.accelerators_in(bundle, level, name)
            count: Amount = 0
            if not isinstance(amount, int):
                count = self.integer(0, self.room(bundle, level, name) // size, f"groups of {bundle.name} in {name or level}")
            self.require(amount == size * count)
            self._wholes[key] = count
        return self._wholes[key]

    def domains(self, level: str) -> Sequence[str | Cell]:
        """Return the domains of a level: names, or at node level all cells.

        `alone` in `layout/parts.py` decides where a cell of several nodes may stand for a domain.
        """
        return self.cells if level == NODE_LEVEL else domains(self.problem.cluster, level)

    def count_held(self, component: Component, level: str, name: str | Cell) -> Amount:
        """Return the resources of a component in a domain; processes on nodes."""
        cells = self._cells_in(level, name)
        if bundle := self.bundle(component):
            return total(self.accelerators(bundle, cell) for cell in cells)
        if dealt := self.layout.dealt.get(component.name):
            return total(self.units(dealt.bundle, cell) for cell in cells)
        per_node = Assignment({component.name: self.layout.on_nodes[component.name]}).processes_on(component.name)
        return sum(per_node.get(node.rank, 0) for cell in cells for node in cell.nodes)

    def _cells_in(self, level: str, name: str | Cell) -> tuple[Cell, ...]:
        return (name,) if isinstance(name, Cell) else self.layout.domains(level)[name]

    def present(self, component: Component, level: str, name: str | Cell) -> Amount:
        """Return 1 exactly if some of the component is in the domain, else 0."""
        bundle = self.bundle(component)
        if bundle and isinstance(name, str):
            return self.touches(bundle, level, name)
        key = (component.name, level, name)
        if key not in self._present:
            amount, dealt = self.count_held(component, level, name), self.layout.dealt.get(component.name)
            cells = self._cells_in(level, name) if bundle and not isinstance(amount, int) else ()
            limit = dealt.processes if dealt else sum(self.layout.pieces(bundle, cell, 1) for cell in cells if bundle)
            self._present[key] = self._some(amount, limit, f"{component.name} is in {name}")
        return self._present[key]

    # -- places of contiguous bundles

    def range_of(self, bundle: Bundle) -> Ranges:
        """Return the decision on the place of a contiguous bundle."""
        return self._ranges[bundle]

    def require_disjoint(self, first_bundle: Bundle, second_bundle: Bundle) -> None:
        """Require two contiguous bundles to share no resource, in any numberings."""
        first, second = self._ranges[first_bundle], self._ranges[second_bundle]
        if self.layout.numbering(first_bundle) == self.layout.numbering(second_bundle):
            self.model.add_no_overlap([first.interval(), second.interval()])
            return
        for node in sorted(first.nodes & second.nodes):
            for index in range(self.problem.cluster.nodes[node].count(first_bundle.kind)):
                self.require(first.covers(node, index) + second.covers(node, index) <= 1)

    def require_inside(self, inner: Bundle, outer: Bundle) -> None:
        """Require a contiguous bundle to be within another in the same numbering."""
        (inner_first, inner_end), (outer_first, outer_end) = self.range_of(inner).first_and_end(), self.range_of(outer).first_and_end()
        self.require(inner_first >= outer_first)
        self.require(inner_end <= outer_end)

    # -- capacity

    def may_hold(self, bundle: Bundle, cell: Cell) -> bool:
        """Return True if the units of a counted bundle in the cell are a decision.

        Otherwise the bundle has no units there.
        """
        return (bundle, cell) in self._by_place

    def slots(self, cell: Cell, pool: NodePool, size: int, inside_numa: bool = False) -> Amount:
        """Return the slots of `size` in the cell beside the pool's contiguous bundles.

        The sum of floor(left / size) over the nodes of the cell, or over their NUMA domains.
        """
        key = (cell, pool, size, inside_numa)
        if key not in self._slots:
            if not pool.ranged:
                self._slots[key] = self.layout.room(cell, pool).pieces(size, inside_numa)
            elif inside_numa:
                numa_domains_here = [(node, mask) for node in cell.nodes for mask in numa_domains(node, pool.kind)]
                self._slots[key] = total(self._in_domain(node, mask, pool, size) for node, mask in numa_domains_here)
            elif not any(self.layout.count_enclosed(bundle, cell) for bundle in pool.ranged) and all(
                bundle.unit % size == 0 for bundle in pool.ranged
            ):
                # Ranges take whole pieces of every node, so their ends leave no fragments.
                range_slots = total(bundle.unit // size * self._ranges[bundle].units(cell) for bundle in pool.ranged)
                self._slots[key] = self.layout.room(cell, pool).pieces(size) - range_slots
            else:
                self._slots[key] = total(self._on_node(node.rank, pool, size) for node in cell.nodes)
        return self._slots[key]

    def _on_node(self, node: int, pool: NodePool, size: int) -> Amount:
        free = pool.free.get(node, 0).bit_count()
        inner_count = sum(self.layout.enclosed.get(bundle, {}).get(node, 0).bit_count() for bundle in pool.ranged)
        usage = total(self._ranges[bundle].count_held_on(node) for bundle in pool.ranged) - inner_count
        if isinstance(usage, int):
            return (free - usage) // size
        slots = self.integer(0, free // size, f"slots of {size} on node {node}")
        self.require(size * slots + usage <= free)
        return slots

    def _in_domain(self, node: Node, mask: int, pool: NodePool, size: int) -> Amount:
        remaining = self._count_left(node, mask, pool)
        if isinstance(remaining, int):
            return remaining // size
        free = (pool.free.get(node.rank, 0) & mask).bit_count()
        count = self.integer(0, free // size, f"slots of {size} in a NUMA domain of node {node.rank}")
        self.require(size * count <= remaining)
        return count

    def _count_left(self, node: Node, mask: int, pool: NodePool) -> Amount:
        free = pool.free.get(node.rank, 0) & mask
        return free.bit_count() - total(self._ranges[bundle].covers(node.rank, index) for bundle in pool.ranged for index in bits(free))

    def count_left_in_domains(self, cell: Cell, pool: NodePool) -> list[Amount]:
        """Return the resources left per NUMA domain of a single-node cell, beside ranges."""
        return [self._count_left(cell.nodes[0], mask, pool) for mask in numa_domains(cell.nodes[0], pool.kind)]

    def pieces_by_domain(self, bundle: Bundle, cell: Cell) -> list[Amount]:
        """Return a counted bundle's pieces per NUMA domain of a single-node cell."""
        node, units = cell.nodes[0], self.units(bundle, cell)
        free, inner_mask = self.layout.pool_of[bundle].free.get(node.rank, 0), self.layout.enclosed.get(bundle, {}).get(node.rank, 0)
        counts: list[Amount] = []
        for mask in numa_domains(node, bundle.kind):
            lower, upper = -(-(inner_mask & mask).bit_count() // bundle.piece), ((free | inner_mask) & mask).bit_count() // bundle.piece
            counts.append(self.integer(lower, max(lower, upper), f"pieces of {bundle.name} in a NUMA domain"))
        self.require(bundle.unit // bundle.piece * units == total(counts))
        return counts

    # -- conditions

    def multiple(self, bundle: Bundle, step: int) -> None:
        """Require the bundle's resources to be a multiple of `step`."""
        amount = self.accelerators(bundle)
        if isinstance(amount, int):
            self.require(amount % step == 0)
        else:
            times = self.model.new_int_var(0, self.problem.cluster.total(bundle.kind) // step, "times")
            self.require(amount == step * times)

    def require_multiples(self, component: Component, size: int) -> None:
        """Require multiples of `size` on every node of a searched component whose resources are given."""
        bundle = self.bundle(component)
        if bundle in self.layout.fixed and component.runs is None:
            for mask in self.layout.fixed[bundle].values():
                self.require(mask.bit_count() % size == 0)

    def exclude(self, component: Component, is_excluded: Callable[[Node], bool]) -> None:
        """Forbid a component's resources in cells of excluded nodes."""
        bundle = self.bundle(component)
        for cell in self.cells if bundle else ():
            if bundle and is_excluded(cell.nodes[0]):
                self.require(self.accelerators(bundle, cell) == 0)

    # -- values of a solution

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Values:
        """Return the decision values; `value` reads a variable."""
        decisions: Values = {count: value(variable) for count, variable in self._counts.items()}
        decisions.update({bundle: ranges.value(value) for bundle, ranges in self._ranges.items()})
        return decisions

    def hint(self, values: Values) -> None:
        """Hint decision values to the solver; infeasible values are allowed."""
        for key, value in values.items():
            if isinstance(key, Count) and isinstance(value, int):
                self.model.add_hint(self._by_place[key.bundle, key.cell], value)
            elif isinstance(key, Bundle) and isinstance(value, tuple):
                self._ranges[key].hint(value)
