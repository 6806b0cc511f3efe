"""The words in which rules speak to CP-SAT: the only door to the model beside compile and search.

An amount is an expression, or an int where the value is known, so that given parts cost nothing and rules need no `if`.
"""

from __future__ import annotations

from typing import Callable, Iterable, Sequence

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.machines.topology import NODE_LEVEL, domains
from ...models.placements.assignment import Assignment, Seat
from ...models.problem import Problem
from ..layout.layout import Bundle, Cell, Count, Layout, Values, domains_of
from ..layout.pools import Pool
from ..layout.ranges.places import Place
from ..layout.ranks.seating import can_be_seated, of_given
from .amount import Amount, Condition, total
from .ranges import Ranges
from .saying import Saying
from .slots import Slots

__all__ = ["Amount", "Condition", "Variables", "total"]


class Variables(Saying):
    """The decision variables of a problem and the amounts that rules and objectives are made of."""

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
            self.require(total(self.units(dealt.bundle, cell) for cell in self.cells) == dealt.processes)
        self._present: dict[tuple[str, str | Cell], Amount] = {}
        self._touched: dict[tuple[Bundle, str, str], Amount] = {}
        self._slots = Slots(self, self.layout, self._ranges)
        self._wholes: dict[tuple[Bundle, str, str], Amount] = {}

    def _count(self, bundle: Bundle, cell: Cell) -> cp_model.IntVar:
        if dealt := self.layout.dealt.get(bundle.name):
            return self.model.new_int_var(0, dealt.processes, f"processes of {bundle.name} in {cell.name}")
        room = self.layout.capacity(cell, self.layout.pool_of[bundle], 1) // bundle.unit
        return self.model.new_int_var(0, room, f"units of {bundle.name} in {cell.name}")

    # -- how much

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
        `layout/told_apart.py` decides by the problem alone which nodes are, and a rule that needs others adds its reason there.
        """
        if bundle in self.layout.fixed:
            return self.layout.fixed[bundle].get(node, 0).bit_count()
        if bundle in self._ranges:
            return self._ranges[bundle].held_on(node)
        cell = self.layout.cell_of[node]
        if len(cell.nodes) > 1:
            raise ValueError(f"{bundle.name} is not counted on node {node} alone")
        return self.accelerators(bundle, cell)

    def accelerators_in(self, bundle: Bundle, level: str, name: str) -> Amount:
        """How many resources the bundle holds in a domain of a level of the topology; on a node by its name, as `accelerators_on`."""
        if level == NODE_LEVEL:
            return total(self.accelerators_on(bundle, node.rank) for node in self.problem.cluster.nodes if node.name == name)
        return total(self.accelerators(bundle, cell) for cell in domains_of(self.layout, level)[name])

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
            return dealt.processes
        bundle = self.layout.bundle_of[component.name]
        if bundle in self.layout.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values()) // component.per_process
        return bundle.unit // component.per_process * self.units(bundle)

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
        key = (component.name, name)
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

    # -- where exactly (contiguous bundles)

    def starts(self, bundle: Bundle) -> list[tuple[int, int]]:
        """Every (first resource rank, units) at which a contiguous bundle cuts no unit."""
        return self._ranges[bundle].starts

    def start_among(self, bundle: Bundle, starts: Iterable[tuple[int, int]]) -> None:
        """Only these."""
        self._ranges[bundle].only(set(starts))

    def extra_nodes(self, bundle: Bundle) -> Amount:
        """How many nodes a contiguous bundle lies on beyond the fewest that could hold it."""
        return self._ranges[bundle].extra_nodes()

    def of_place(self, bundle: Bundle, value: Callable[[Place], int]) -> Amount:
        """What a contiguous bundle's place is worth, given the worth of each."""
        return self._ranges[bundle].worth(value)

    def covers(self, bundle: Bundle, node: int, index: int) -> Amount:
        """1 exactly if a contiguous bundle holds this resource of the node."""
        return self._ranges[bundle].covers(node, index)

    def first_and_end(self, bundle: Bundle) -> tuple[Amount, Amount]:
        """The first resource rank of a contiguous bundle in its numbering, and the one after its last."""
        return self._ranges[bundle].first_and_end()

    def rests(self, bundle: Bundle, step: int) -> tuple[list[Amount], list[Amount]]:
        """For every rest of a division by `step`, 1 exactly if a contiguous bundle's first resource rank leaves it; the same of its end."""
        return self._ranges[bundle].rests(step)

    def follow(self, one: Bundle, other: Bundle) -> None:
        """The other contiguous bundle begins where the one ends; both are in the same numbering."""
        self._ranges[other].follows(self._ranges[one])

    # -- what fits

    def may_hold(self, bundle: Bundle, cell: Cell) -> bool:
        """Is there a decision how many units of a counted bundle are in the cell? Else it has none there."""
        return (bundle, cell) in self._by_place

    def slots(self, cell: Cell, pool: Pool, size: int, inside_numa: bool = False) -> Amount:
        """How many pieces of `size` fit in the cell beside the pool's contiguous bundles: the sum of floor(left / size) over its nodes.

        With `inside_numa` over their NUMA domains.
        """
        return self._slots.slots(cell, pool, size, inside_numa)

    def left_in_domains(self, cell: Cell, pool: Pool) -> list[Amount]:
        """What is left beside the pool's contiguous bundles in each NUMA domain of a cell of one node."""
        return self._slots.left_in_domains(cell.nodes[0], pool)

    def pieces_by_domain(self, bundle: Bundle, cell: Cell) -> list[Amount]:
        """How many pieces of a counted bundle are in each NUMA domain of a cell of one node."""
        return self._slots.pieces_by_domain(bundle, cell.nodes[0], self.units(bundle, cell))

    def apart(self, one: Bundle, other: Bundle) -> None:
        """Two contiguous bundles hold no resource in common, whatever their numberings."""
        first, second = self._ranges[one], self._ranges[other]
        if self.layout.numbering(one) == self.layout.numbering(other):
            self.model.add_no_overlap([first.interval(), second.interval()])
            return
        for node in sorted(first.nodes & second.nodes):
            for index in range(self.problem.cluster.nodes[node].count(one.kind)):
                self.require(first.covers(node, index) + second.covers(node, index) <= 1)

    def inside(self, one: Bundle, other: Bundle) -> None:
        """A contiguous bundle lies within another one in the same numbering."""
        (first, end), (least, most) = self.first_and_end(one), self.first_and_end(other)
        self.require(first >= least)
        self.require(end <= most)

    def multiple(self, bundle: Bundle, step: int) -> None:
        """The bundle holds a multiple of `step`."""
        held = self.accelerators(bundle)
        if isinstance(held, int):
            self.require(held % step == 0, f"{held} is no multiple of {step}")
        else:
            times = self.model.new_int_var(0, self.problem.cluster.total(bundle.kind) // step, "times")
            self.require(held == step * times)

    # -- reading it

    def values(self, value: Callable[[cp_model.IntVar], int]) -> Values:
        """The values of the decision variables, given a way to read one variable."""
        found: Values = {count: value(variable) for count, variable in self._counts.items()}
        found.update({bundle: its.value(value) for bundle, its in self._ranges.items()})
        return found

    def hint(self, values: Values) -> None:
        """A place to start from; it need not be right."""
        for key, value in values.items():
            if isinstance(key, Count) and isinstance(value, int):
                self.model.add_hint(self._by_place[key.bundle, key.cell], value)
            elif isinstance(key, Bundle) and isinstance(value, tuple):
                self._ranges[key].hint(value)

    def fix(self, values: Values) -> None:
        """The decision variables have exactly these values."""
        for key, value in values.items():
            if isinstance(key, Count) and isinstance(value, int):
                self.require(self._by_place[key.bundle, key.cell] == value)
            elif isinstance(key, Bundle) and isinstance(value, tuple):
                self._ranges[key].only({value})
