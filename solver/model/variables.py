"""Vocabulary in which rules and objectives speak to CP-SAT.

An amount is an expression, or an int where the value is known, so that given parts cost nothing and rules need no `if`.
"""

from __future__ import annotations

from typing import Callable, Iterable

from ortools.sat.python import cp_model

from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.cells import Cell
from ..layout.layout import Count, Values
from ..layout.pools import Pool
from ..layout.ranges import Place
from .amount import Amount, Condition, total
from .held import InDomains
from .ranges import Slots

__all__ = ["Amount", "Condition", "Variables", "total"]


class Variables(InDomains):
    """The decision variables of a problem and the amounts that rules and objectives are made of.

    How much is held says `held.py`, in which domains `domains.py`; here is where exactly, what fits beside it, and what it came to.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._slots = Slots(self, self.layout, self._ranges)

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
