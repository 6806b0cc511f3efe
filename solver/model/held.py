"""How much each component has, and on which nodes: amounts over the decision variables of a problem."""

from __future__ import annotations

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.placements.assignment import Seat
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.layout import Layout
from ..layout.ranks.seating import can_be_seated, of_given
from .amount import Amount, total
from .ranges import Ranges
from .saying import Saying


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
        room = self.layout.capacity(cell, self.layout.pool_of[bundle], 1) // bundle.unit
        return self.model.new_int_var(0, room, f"units of {bundle.name} in {cell.name}")

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
