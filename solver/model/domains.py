"""What is in which domain of the topology: amounts over the decision variables, level by level."""

from __future__ import annotations

from typing import Sequence

from ...models.component import Component
from ...models.machines.topology import NODE_LEVEL, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cell import Cell
from ..layout.layout import domains_of
from .amount import Amount, total
from .held import Held


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
        """How many free resources a searched bundle could at most hold in a domain of a level of the topology."""
        pool = self.layout.pool_of[bundle]
        if level == NODE_LEVEL:
            return sum(pool.free.get(node.rank, 0).bit_count() for node in self.problem.cluster.nodes if node.name == name)
        return sum(self.layout.capacity(cell, pool, 1) for cell in domains_of(self.layout, level)[name])

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
                pool = self.layout.pool_of[bundle] if bundle else None
                cells = self._cells_in(level, name)
                room = dealt.processes if dealt else sum(self.layout.capacity(cell, pool, 1) for cell in cells if pool)
                self.require(held <= room * seen)
                self.require(held >= seen)
        return self._present[key]
