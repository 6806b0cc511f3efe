"""Amounts over decision variables: what each component has on nodes and in domains."""

from __future__ import annotations

from typing import Sequence

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.machines.topology import NODE_LEVEL, domains
from ...models.placements.assignment import Assignment, Seat
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Layout, domains_of
from ..layout.ranks import can_be_seated, of_given
from .amount import Amount, Saying, total
from .ranges import Ranges


class Held(Saying):
    """The decision variables of a problem, and how much of what is held."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        self.layout = Layout(problem)
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

    def _count(self, bundle: Bundle, cell: Cell) -> cp_model.IntVar:
        if dealt := self.layout.dealt.get(bundle.name):
            return self.model.new_int_var(0, dealt.processes, f"processes of {bundle.name} in {cell.name}")
        least = -(-self.layout.enclosed_in(bundle, cell) // bundle.unit)
        most = max(least, self.layout.pieces(bundle, cell, 1) // bundle.unit)
        return self.model.new_int_var(least, most, f"units of {bundle.name} in {cell.name}")

    def bundle(self, component: Component) -> Bundle | None:
        """What the component is placed with; None where nodes are its resource and nothing is decided."""
        return self.layout.bundle_of.get(component.name)

    def units(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """How many units of a searched bundle are in the cell, or everywhere."""
        if bundle in self._ranges:
            return self._ranges[bundle].units(cell)
        if cell is None:
            return total(self.units(bundle, each) for each in self.cells)
        return self._by_place.get((bundle, cell), 0)

    def accelerators(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """How many resources the bundle holds in the cell, or everywhere."""
        if bundle in self.layout.fixed:
            inside = None if cell is None else {node.rank for node in cell.nodes}
            masks = self.layout.fixed[bundle].items()
            return sum(mask.bit_count() for node, mask in masks if inside is None or node in inside)
        if bundle in self._ranges and cell is not None:
            return self._ranges[bundle].held(cell)
        return bundle.unit * self.units(bundle, cell)

    def beside_enclosed(self, bundle: Bundle, cell: Cell) -> Amount:
        """How many resources a searched bundle holds in the cell beside those of given ones that lie within it."""
        return self.accelerators(bundle, cell) - self.layout.enclosed_in(bundle, cell)

    def accelerators_on(self, bundle: Bundle, node: int) -> Amount:
        """How many resources the bundle holds on one node.

        A counted bundle is known on a node only where that node is a cell of its own. Raises ValueError elsewhere:
        `layout/whereabouts.py` decides by the problem alone which nodes are, and a rule that needs others adds its reason there.
        """
        if bundle in self.layout.fixed:
            return self.layout.fixed[bundle].get(node, 0).bit_count()
        if bundle in self._ranges:
            return self._ranges[bundle].held_on(node)
        cell = self.layout.cell_of[node]
        if len(cell.nodes) > 1:
            raise ValueError(f"{bundle.name} is not counted on node {node} alone")
        return self.accelerators(bundle, cell)

    def given_in_order(self, component: Component) -> list[Seat]:
        """The given resources of a searched component in the order of its ranks; none if no order keeps strides and relations."""
        bundle = self.bundle(component)
        return (of_given(self.layout, bundle) or {}).get(component.name, []) if bundle else []

    def can_be_seated(self, bundle: Bundle) -> bool:
        """Is there an order of ranks for every component of the bundle that keeps strides and relations between ranks?"""
        return can_be_seated(self.layout, bundle)

    def processes(self, component: Component) -> Amount:
        """How many processes the component has."""
        runs = self.layout.on_nodes.get(component.name) if component.runs is None else component.runs
        if runs is not None:
            return max((run.ranks.stop for run in runs), default=0)
        if dealt := self.layout.dealt.get(component.name):
            return dealt.processes if dealt.fewest == dealt.processes else self.units(dealt.bundle)
        bundle = self.layout.bundle_of[component.name]
        if bundle in self.layout.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values()) // component.per_process
        return bundle.unit // component.per_process * self.units(bundle)


class InDomains(Held):
    """How much of what is held is in a domain, and whether any is."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._present: dict[tuple[str, str, str | Cell], Amount] = {}
        self._touched: dict[tuple[Bundle, str, str], Amount] = {}
        self._wholes: dict[tuple[Bundle, str, str], Amount] = {}

    def accelerators_in(self, bundle: Bundle, level: str, name: str) -> Amount:
        """How many resources the bundle holds in a domain of a level of the topology; on a node by its name, as `accelerators_on`."""
        if level == NODE_LEVEL:
            return total(self.accelerators_on(bundle, node.rank) for node in self.problem.cluster.nodes if node.name == name)
        return total(self.accelerators(bundle, cell) for cell in domains_of(self.layout, level)[name])

    def touches(self, bundle: Bundle, level: str, name: str) -> Amount:
        """1 exactly if some of the bundle is in that domain of a topology level, else 0."""
        key = (bundle, level, name)
        if key not in self._touched:
            held = self.accelerators_in(bundle, level, name)
            if bundle in self._ranges and level != NODE_LEVEL:
                self._touched[key] = self._ranges[bundle].touches(domains_of(self.layout, level)[name])
            elif isinstance(held, int):
                self._touched[key] = int(held > 0)
            else:
                room = self.room(bundle, level, name)
                seen = self.model.new_bool_var(f"{bundle.name} touches {name or level}")
                self.require(held <= room * seen)
                self.require(held >= seen)
                self._touched[key] = seen
        return self._touched[key]

    def room(self, bundle: Bundle, level: str, name: str) -> int:
        """How many resources a searched bundle could at most hold in a domain of a level of the topology."""
        if level == NODE_LEVEL:
            free, enclosed = self.layout.pool_of[bundle].free, self.layout.enclosed.get(bundle, {})
            nodes = [node.rank for node in self.problem.cluster.nodes if node.name == name]
            return sum((free.get(node, 0) | enclosed.get(node, 0)).bit_count() for node in nodes)
        return sum(self.layout.pieces(bundle, cell, 1) for cell in domains_of(self.layout, level)[name])

    def wholes(self, bundle: Bundle, level: str, name: str) -> Amount:
        """How many groups of a searched bundle are in a domain of a level above the node that holds them whole: of `bundle.whole(level)` each."""
        key = (bundle, level, name)
        if key not in self._wholes:
            size, held = bundle.whole(level), self.accelerators_in(bundle, level, name)
            count: Amount = 0
            if not isinstance(held, int):
                count = self.integer(0, self.room(bundle, level, name) // size, f"groups of {bundle.name} in {name or level}")
            self.require(held == size * count)
            self._wholes[key] = count
        return self._wholes[key]

    def domains(self, level: str) -> Sequence[str | Cell]:
        """What a rule about domains of a level of the topology goes through: their names, or where the level is the node all cells.

        A cell of several nodes is as good as a domain only where `layout/whereabouts.py` says so.
        """
        return self.cells if level == NODE_LEVEL else domains(self.problem.cluster, level)

    def held(self, component: Component, level: str, name: str | Cell) -> Amount:
        """How many resources the component holds in a domain, how many processes where nodes are its resource."""
        cells = self._cells_in(level, name)
        if bundle := self.bundle(component):
            return total(self.accelerators(bundle, cell) for cell in cells)
        if dealt := self.layout.dealt.get(component.name):
            return total(self.units(dealt.bundle, cell) for cell in cells)
        there = Assignment({component.name: self.layout.on_nodes[component.name]}).processes_on(component.name)
        return sum(there.get(node.rank, 0) for cell in cells for node in cell.nodes)

    def _cells_in(self, level: str, name: str | Cell) -> tuple[Cell, ...]:
        return (name,) if isinstance(name, Cell) else domains_of(self.layout, level)[name]

    def present(self, component: Component, level: str, name: str | Cell) -> Amount:
        """1 exactly if some of the component is in a domain, else 0."""
        bundle = self.bundle(component)
        if bundle and isinstance(name, str):
            return self.touches(bundle, level, name)
        key = (component.name, level, name)
        if key not in self._present:
            held = self.held(component, level, name)
            if isinstance(held, int):
                self._present[key] = int(held > 0)
            else:
                seen = self._present[key] = self.boolean(f"{component.name} is in {name}")
                dealt = self.layout.dealt.get(component.name)
                cells = self._cells_in(level, name)
                room = dealt.processes if dealt else sum(self.layout.pieces(bundle, cell, 1) for cell in cells if bundle)
                self.require(held <= room * seen)
                self.require(held >= seen)
        return self._present[key]
