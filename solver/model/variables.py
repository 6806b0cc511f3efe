"""Vocabulary of rules and objectives for CP-SAT.

An amount is an expression, or an int if the value is known: given parts cost nothing and rules need
no `if`.
"""

from __future__ import annotations

from typing import Callable, Iterable

from ortools.sat.python import cp_model

from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Values
from ..layout.pools import NodePool
from ..layout.ranges import Place
from .amount import Amount, Condition, total
from .held import DomainAmounts
from .ranges import Slots

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

    def starts(self, bundle: Bundle) -> list[tuple[int, int]]:
        """Return the places (first resource rank, units) of a contiguous bundle.

        No place cuts a unit.
        """
        return self._ranges[bundle].starts

    def start_among(self, bundle: Bundle, starts: Iterable[tuple[int, int]]) -> None:
        """Restrict a contiguous bundle to some places."""
        self._ranges[bundle].only(set(starts))

    def extra_nodes(self, bundle: Bundle) -> Amount:
        """Return a contiguous bundle's nodes beyond the minimum for its size."""
        return self._ranges[bundle].extra_nodes()

    def of_place(self, bundle: Bundle, value: Callable[[Place], int]) -> Amount:
        """Return `value` of the place of a contiguous bundle."""
        return self._ranges[bundle].worth(value)

    def covers(self, bundle: Bundle, node: int, index: int) -> Amount:
        """Return 1 exactly if a contiguous bundle holds this resource of the node."""
        return self._ranges[bundle].covers(node, index)

    def first_and_end(self, bundle: Bundle) -> tuple[Amount, Amount]:
        """Return a contiguous bundle's first resource rank, and the rank after its last."""
        return self._ranges[bundle].first_and_end()

    def rests(self, bundle: Bundle, step: int) -> tuple[list[Amount], list[Amount]]:
        """Return remainder indicators modulo `step`, for start and end of a bundle.

        Entry `r` is 1 exactly if a contiguous bundle's first resource rank (or the rank after its
        last) is `r` modulo `step`.
        """
        return self._ranges[bundle].rests(step)

    def follow(self, before: Bundle, after: Bundle) -> None:
        """Require the second contiguous bundle to begin at the end of the first.

        Both are in the same numbering.
        """
        self._ranges[after].follows(self._ranges[before])

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
        (first, end), (least, most) = self.first_and_end(inner), self.first_and_end(outer)
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
