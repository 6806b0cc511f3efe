"""The words in which rules speak to CP-SAT: the only door to the model beside compile and search.

An amount is an expression, or an int where the value is known, so that given parts cost nothing and rules need no `if`.
"""

from __future__ import annotations

from typing import Callable, Iterable, Sequence, Union

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.machines.topology import NODE_LEVEL, domain, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.layout import Bundle, Cell, Count, Layout, Values, domains_of
from ..layout.places import Place
from ..layout.pools import Pool
from ..layout.seating import can_be_seated
from .ranges import Ranges

Amount = Union[cp_model.LinearExpr, int]
Condition = Union[cp_model.BoundedLinearExpression, bool]


class Variables:
    """The decision variables of a problem and the amounts that rules and objectives are made of."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.layout = Layout(problem)
        self.model = cp_model.CpModel()
        self.bundles, self.cells = self.layout.bundles, self.layout.cells
        self.impossible: list[str] = []
        self._counts = {count: self._count(count.bundle, count.cell) for count in self.layout.counts}
        self._by_place = {(count.bundle, count.cell): variable for count, variable in self._counts.items()}
        self._ranges = {b: Ranges(self.model, self.layout, b) for b in self.layout.ranged}
        self._present: dict[tuple[str, str | Cell], Amount] = {}
        self._touched: dict[tuple[Bundle, str, str], Amount] = {}
        self._slots: dict[tuple[Cell, Pool, int], Amount] = {}

    def _count(self, bundle: Bundle, cell: Cell) -> cp_model.IntVar:
        room = self.layout.capacity(cell, self.layout.pool_of[bundle], 1) // bundle.unit
        return self.model.new_int_var(0, room, f"units of {bundle.name} in {cell.name}")

    # -- how much

    def bundle(self, component: Component) -> Bundle | None:
        """What the component is placed with; None where nodes are its resource and nothing is decided."""
        return self.layout.bundle_of.get(component.name)

    def units(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """How many units of a searched bundle are in the cell, or everywhere."""
        if cell is None:
            return total(self.units(bundle, each) for each in self.cells)
        if bundle in self._ranges:
            return total(self._ranges[bundle].units_on(node.rank) for node in cell.nodes)
        return self._by_place.get((bundle, cell), 0)

    def accelerators(self, bundle: Bundle, cell: Cell | None = None) -> Amount:
        """How many resources the bundle holds in the cell, or everywhere."""
        if bundle in self.layout.fixed:
            inside = None if cell is None else {node.rank for node in cell.nodes}
            masks = self.layout.fixed[bundle].items()
            return sum(mask.bit_count() for node, mask in masks if inside is None or node in inside)
        return bundle.unit * self.units(bundle, cell)

    def accelerators_on(self, bundle: Bundle, node: int) -> Amount:
        """How many resources the bundle holds on one node.

        A counted bundle is known on a node only where that node is a cell of its own. Raises ValueError elsewhere:
        `layout/told_apart.py` decides by the problem alone which nodes are, and a rule that needs others adds its reason there.
        """
        if bundle in self.layout.fixed:
            return self.layout.fixed[bundle].get(node, 0).bit_count()
        if bundle in self._ranges:
            return bundle.unit * self._ranges[bundle].units_on(node)
        cell = self.layout.cell_of[node]
        if len(cell.nodes) > 1:
            raise ValueError(f"{bundle.name} is not counted on node {node} alone")
        return self.accelerators(bundle, cell)

    def accelerators_in(self, bundle: Bundle, level: str, name: str) -> Amount:
        """How many resources the bundle holds in a domain of a level of the topology; on a node by its name, as `accelerators_on`."""
        if level == NODE_LEVEL:
            return total(self.accelerators_on(bundle, node.rank) for node in self.problem.cluster.nodes if node.name == name)
        return total(self.accelerators(bundle, cell) for cell in domains_of(self.layout, level)[name])

    def can_be_seated(self, bundle: Bundle) -> bool:
        """Is there an order of ranks for every component of the bundle that keeps strides and relations between ranks?"""
        return can_be_seated(self.layout, bundle)

    def processes(self, component: Component) -> Amount:
        """How many processes the component has."""
        runs = self.layout.on_nodes.get(component.name) if component.runs is None else component.runs
        if runs is not None:
            return max((run.ranks.stop for run in runs), default=0)
        bundle = self.layout.bundle_of[component.name]
        if bundle in self.layout.fixed:
            return sum(mask.bit_count() for mask in self.layout.fixed[bundle].values()) // component.per_process
        return bundle.unit // component.per_process * self.units(bundle)

    def touches(self, bundle: Bundle, level: str, name: str) -> Amount:
        """1 exactly if some of the bundle is in that domain of a topology level, else 0."""
        key = (bundle, level, name)
        if key not in self._touched:
            held = self.accelerators_in(bundle, level, name)
            if isinstance(held, int):
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
        free = self.layout.pool_of[bundle].free
        return sum(free.get(node.rank, 0).bit_count() for node in self.problem.cluster.nodes if domain(node, level) == name)

    def domains(self, level: str) -> Sequence[str | Cell]:
        """What a rule about domains of a level of the topology goes through: their names, or where the level is the node all cells.

        A cell of several nodes is as good as a domain only where `layout/whereabouts.py` says so.
        """
        return self.cells if level == NODE_LEVEL else domains(self.problem.cluster, level)

    def held(self, component: Component, level: str, name: str | Cell) -> Amount:
        """How many resources the component holds in a domain, how many processes where nodes are its resource."""
        cells = (name,) if isinstance(name, Cell) else domains_of(self.layout, level)[name]
        if bundle := self.bundle(component):
            return total(self.accelerators(bundle, cell) for cell in cells)
        there = Assignment({component.name: self.layout.on_nodes[component.name]}).processes_on(component.name)
        return sum(there.get(node.rank, 0) for cell in cells for node in cell.nodes)

    def present(self, component: Component, level: str, name: str | Cell) -> Amount:
        """1 exactly if some of the component is in a domain, else 0."""
        bundle = self.bundle(component)
        if bundle and isinstance(name, str):
            return self.touches(bundle, level, name)
        key = (component.name, name)
        if key not in self._present:
            held = self.held(component, level, name)
            if isinstance(held, int) or not bundle:
                self._present[key] = int(held > 0)
            else:
                seen = self._present[key] = self.model.new_bool_var(f"{component.name} is in {name}")
                free = self.layout.pool_of[bundle].free
                self.require(held <= sum(free.get(node.rank, 0).bit_count() for node in name.nodes) * seen)
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
        return self.of_place(bundle, lambda place: place[0]), self.of_place(bundle, lambda place: place[0] + place[1] * bundle.unit)

    def slots(self, cell: Cell, pool: Pool, size: int) -> Amount:
        """How many pieces of `size` fit in the cell beside the pool's contiguous bundles: the sum of floor(left / size) over its nodes."""
        key = (cell, pool, size)
        if key not in self._slots:
            self._slots[key] = total(self._slots_on(node.rank, pool, size) for node in cell.nodes)
        return self._slots[key]

    def _slots_on(self, node: int, pool: Pool, size: int) -> Amount:
        free = pool.free.get(node, 0).bit_count()
        there = [(b, self._ranges[b].units_on(node)) for b in pool.bundles if b in self._ranges]
        there = [(b, units) for b, units in there if not isinstance(units, int)]
        if all(bundle.unit % size == 0 for bundle, _ in there):
            return free // size - total(bundle.unit // size * units for bundle, units in there)
        left = self.model.new_int_var(0, free // size, f"slots of {size} on node {node}")
        self.require(size * left + total(bundle.unit * units for bundle, units in there) <= free)
        return left

    def apart(self, one: Bundle, other: Bundle) -> None:
        """Two contiguous bundles hold no resource in common, whatever their numberings."""
        first, second = self._ranges[one], self._ranges[other]
        if self.layout.numbering(one) == self.layout.numbering(other):
            self.model.add_no_overlap([first.interval(), second.interval()])
            return
        for node in sorted(first.nodes & second.nodes):
            for index in range(self.problem.cluster.nodes[node].count(one.kind)):
                self.require(first.covers(node, index) + second.covers(node, index) <= 1)

    def multiple(self, bundle: Bundle, step: int) -> None:
        """The bundle holds a multiple of `step`."""
        held = self.accelerators(bundle)
        if isinstance(held, int):
            self.require(held % step == 0, f"{held} is no multiple of {step}")
        else:
            times = self.model.new_int_var(0, self.problem.cluster.total(bundle.kind) // step, "times")
            self.require(held == step * times)

    def among(self, amount: Amount, values: Iterable[int], why: str = "") -> None:
        """The amount is one of these."""
        possible = list(values)
        if isinstance(amount, int) or not possible:
            self.require(amount in possible if isinstance(amount, int) else False, why)
        else:
            self.model.add_linear_expression_in_domain(amount, cp_model.Domain.from_values(possible))

    def equal_or_none(self, amount: Amount, other: Amount) -> None:
        """The amount is the other one, or nothing."""
        equal = self.model.new_bool_var("equal")
        self.model.add(amount == other).only_enforce_if(equal)
        self.model.add(amount == 0).only_enforce_if(~equal)

    def total(self, amounts: Iterable[Amount]) -> Amount:
        """The sum of amounts."""
        return total(amounts)

    # -- variables of a rule or an objective's own

    def boolean(self, name: str) -> cp_model.IntVar:
        """A new 0 or 1; the name is for logs."""
        return self.model.new_bool_var(name)

    def integer(self, low: int, high: int, name: str) -> cp_model.IntVar:
        """A new whole number from `low` to `high`; the name is for logs."""
        return self.model.new_int_var(low, high, name)

    # -- saying it

    def at_most(self, amount: Amount, most: Amount, why: str = "") -> None:
        """The first amount is not above the second; `why` says what fails where both are known."""
        self.require(amount <= most, why)

    def require(self, condition: Condition, why: str = "") -> None:
        """The condition holds. A condition that is already known to fail makes the model infeasible, with its reason."""
        if isinstance(condition, bool):
            if not condition:
                self.impossible.append(why)
                self.model.add_bool_or([])
        else:
            self.model.add(condition)

    def minimise(self, amount: Amount) -> None:
        """Smaller is better."""
        self.model.minimize(amount)

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


def total(amounts: Iterable[Amount]) -> Amount:
    """The sum of amounts; an int if all of them are known."""
    known, open_amounts = 0, []
    for amount in amounts:
        if isinstance(amount, int):
            known += amount
        else:
            open_amounts.append(amount)
    return cp_model.LinearExpr.sum(open_amounts) + known if open_amounts else known
