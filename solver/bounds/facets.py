"""Rows that every solution of a block satisfies and a point of the relaxation does not: facets of what one domain can be used for.

Which rows make the relaxation of a domain as tight as its whole-numbered solutions allow depends on its room and on the terms of the
objective; they are found instead of written down. A row is what parts the point from the solutions that are known. Then it is proved
that no solution of the block is beyond it, or another solution is met, to be parted from too.
"""

from __future__ import annotations

from typing import Mapping, Sequence

from ortools.linear_solver import pywraplp

from .blocks import Block, free
from .glop import PARAMETERS
from .least import Least, Solution
from .linear_rows import Row

SIGNS = (1, -1)
STEEPEST = 1000.0
"""No coefficient of a row is larger, in variables from 0 to 1."""
STEEP = 1e-4
"""What coefficients cost. Where all solutions lie in a plane many rows say the same, and the one with small coefficients is wanted."""
CALLS, NODES, ALL_NODES = 60, 2000, 1600
"""So many solutions are looked for at most for one row, and so many relaxations solved for each, and for all."""
SCALE = 1 << 16
"""Coefficients are multiples of 1 / SCALE, if not of something simpler."""
DIVISORS = range(1, 13)
"""Of the smallest coefficient: all others are mostly multiples of one of these parts."""
NONE = 1e-7
"""A coefficient that is 0."""
NEAR = 1e-3
"""What is not more than that, of the largest coefficient, may be rounding: a row that a point misses by less is not worth having."""


class Facets:
    """The whole-numbered solutions of a block, as far as they were met, and rows that all of them satisfy."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self._free = list(free(block))
        self._width = {each: block.boxes[each][1] - block.boxes[each][0] for each in self._free}
        self._least = Least(block)
        self._known: dict[Solution, None] = {}
        for each in self._free:
            for sign in SIGNS:
                solution = self._least.below({each: sign}, None, NODES)[1] if self.nodes < ALL_NODES else None
                if solution is not None:
                    self._known[solution] = None
        self._middle = {each: sum(its[each] for its in self._known) / max(1, len(self._known)) for each in self._free}
        self._parting = pywraplp.Solver.CreateSolver("GLOP")
        self._parting.SetSolverSpecificParametersAsString(PARAMETERS)
        self._coefficients = {each: [self._parting.NumVar(0.0, STEEPEST, "") for _ in SIGNS] for each in self._free}
        for solution in self._known:
            self._keep(solution)

    @property
    def nodes(self) -> int:
        """Relaxations of the block that were solved so far; the same every time."""
        return self._least.nodes

    def row(self, values: Sequence[float]) -> Row | None:
        """A row in whole numbers that a point of the block misses; None if none is found. Proved, whatever the point is."""
        found = self._parted(values) if self._known else None
        if found is None:
            return None
        its = _simple(found)
        least = min(_cost(its, each) for each in self._known)
        missed = least - sum(coefficient * values[each] for each, coefficient in its.items())
        if missed <= NEAR * max(map(abs, its.values())) or not self._least.below(its, least, NODES)[0]:
            return None
        row = Row(least, None, tuple(its), tuple(its.values()))
        self._least.add(row)
        return row

    def _keep(self, solution: Solution) -> None:
        """The row that is looked for holds for the solution."""
        kept = self._parting.Constraint(-self._parting.infinity(), 1.0)
        for each, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                kept.SetCoefficient(coefficient, sign * (solution[each] - self._middle[each]) / self._width[each])

    def _parted(self, values: Sequence[float]) -> dict[int, float] | None:
        """Coefficients with which the sum is less for the point than for any solution; None if none are found."""
        objective = self._parting.Objective()
        away = {each: (values[each] - self._middle[each]) / self._width[each] for each in self._free}
        for each, both in self._coefficients.items():
            for sign, coefficient in zip(SIGNS, both):
                objective.SetCoefficient(coefficient, sign * away[each] - STEEP)
        objective.SetMaximization()
        until = self.nodes + ALL_NODES
        for _ in range(CALLS):
            if self.nodes > until or self._parting.Solve() != pywraplp.Solver.OPTIMAL:
                return None
            steep = {each: more.solution_value() - less.solution_value() for each, (more, less) in self._coefficients.items()}
            if sum(coefficient * away[each] for each, coefficient in steep.items()) <= 1 + NEAR:
                return None
            found = {each: -coefficient / self._width[each] for each, coefficient in steep.items()}
            costs = {each: round(SCALE * value) for each, value in found.items()}
            known = min(_cost(costs, solution) for solution in self._known)
            proved, solution = self._least.below(costs, known - round(NEAR * SCALE), NODES)
            if proved:
                return found
            if solution is None or solution in self._known:
                return None
            self._known[solution] = None
            self._keep(solution)
        return None


def _cost(coefficients: Mapping[int, int], solution: Solution) -> int:
    return sum(coefficient * solution[each] for each, coefficient in coefficients.items())


def _simple(found: Mapping[int, float]) -> dict[int, int]:
    """The same coefficients in whole numbers that are as small as can be."""
    its = {each: value for each, value in found.items() if abs(value) > NONE}
    smallest = min(map(abs, its.values()), default=1.0)
    for divisor in DIVISORS:
        exact = {each: value * divisor / smallest for each, value in its.items()}
        if all(abs(value - round(value)) < NEAR for value in exact.values()):
            return {each: round(value) for each, value in exact.items()}
    return {each: round(value * SCALE) for each, value in its.items() if round(value * SCALE)}
