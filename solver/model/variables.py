"""Vocabulary of rules and objectives for CP-SAT.

An amount is an expression, or an int if the value is known: given parts cost nothing and rules need
no `if`.
"""

from __future__ import annotations

from typing import Callable

from ortools.sat.python import cp_model

from ...models.component import Component
from ...models.machines.node import Node
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Values
from ..layout.pools import NodePool
from .amount import Amount, Condition, total
from .ranges import Ranges, Slots
from .usage import DomainAmounts

__all__ = ["Amount", "Condition", "Variables", "total"]


class Variables(DomainAmounts):
    """Decision variables of a problem, and the amounts for rules and objectives.

    `held.py` has amounts on nodes and in domains. This class adds exact places, capacities, and
    reading and fixing of values.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._slots = Slots(self, self.layout, self._ranges)

    # -- places of contiguous bundles

    def range_of(self, bundle: Bundle) -> Ranges:
        """Return the decision on the place of a contiguous bundle."""
        return self._ranges[bundle]

    # -- capacity

    def may_hold(self, bundle: Bundle, cell: Cell) -> bool:
        """Return True if the units of a counted bundle in the cell are a decision.

        Otherwise the bundle has no units there.
        """
        return (bundle, cell) in self._by_place

    def slots(self, cell: Cell, pool: NodePool, size: int, inside_numa: bool = False) -> Amount:
        """Return the slots of `size` in the cell beside the pool's contiguous bundles.

        The sum of floor(left / size) over the nodes of the cell; with `inside_numa`, over their
        NUMA domains.
        """
        return self._slots.slots(cell, pool, size, inside_numa)

    def left_in_domains(self, cell: Cell, pool: NodePool) -> list[Amount]:
        """Return the resources left per NUMA domain of a single-node cell.

        The pool's contiguous bundles are subtracted.
        """
        return self._slots.left_in_domains(cell.nodes[0], pool)

    def pieces_by_domain(self, bundle: Bundle, cell: Cell) -> list[Amount]:
        """Return a counted bundle's pieces per NUMA domain of a single-node cell."""
        return self._slots.pieces_by_domain(bundle, cell.nodes[0], self.units(bundle, cell))

    def apart(self, first_bundle: Bundle, second_bundle: Bundle) -> None:
        """Require two contiguous bundles to share no resource, in any numberings."""
        first, second = self._ranges[first_bundle], self._ranges[second_bundle]
        if self.layout.numbering(first_bundle) == self.layout.numbering(second_bundle):
            self.model.add_no_overlap([first.interval(), second.interval()])
            return
        for node in sorted(first.nodes & second.nodes):
            for index in range(self.problem.cluster.nodes[node].count(first_bundle.kind)):
                self.require(first.covers(node, index) + second.covers(node, index) <= 1)

    def inside(self, inner: Bundle, outer: Bundle) -> None:
        """Require a contiguous bundle to be within another in the same numbering."""
        (first, end), (least, most) = self.range_of(inner).first_and_end(), self.range_of(outer).first_and_end()
        self.require(first >= least)
        self.require(end <= most)

    def multiple(self, bundle: Bundle, step: int) -> None:
        """Require the bundle's resources to be a multiple of `step`."""
        amount = self.accelerators(bundle)
        if isinstance(amount, int):
            self.require(amount % step == 0, f"{amount} is no multiple of {step}")
        else:
            times = self.model.new_int_var(0, self.problem.cluster.total(bundle.kind) // step, "times")
            self.require(amount == step * times)

    def given_in_multiples(self, component: Component, size: int, groups: str) -> None:
        """Require multiples of `size` on every node of a searched component whose resources are given."""
        bundle = self.bundle(component)
        if bundle in self.layout.fixed and component.runs is None:
            for node, mask in self.layout.fixed[bundle].items():
                self.require(mask.bit_count() % size == 0, f"{groups} of {component.name} do not fit node {node}")

    def exclude(self, component: Component, is_excluded: Callable[[Node], bool], why: str) -> None:
        """Forbid a component's resources in cells of excluded nodes."""
        bundle = self.bundle(component)
        for cell in self.cells if bundle else ():
            if bundle and is_excluded(cell.nodes[0]):
                self.require(self.accelerators(bundle, cell) == 0, f"{component.name} is {why}")

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

    def fix(self, values: Values) -> None:
        """Fix the decision variables to the given values."""
        for key, value in values.items():
            if isinstance(key, Count) and isinstance(value, int):
                self.require(self._by_place[key.bundle, key.cell] == value)
            elif isinstance(key, Bundle) and isinstance(value, tuple):
                self._ranges[key].only({value})
