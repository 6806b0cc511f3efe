"""Linear relaxation of a CP-SAT model, solved by GLOP, with lower bounds proved in integers."""

from __future__ import annotations

from math import gcd
from typing import Any, Iterable, Iterator, Mapping, Sequence

from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

from ...models.record import dataclass

INFINITE = 1 << 62
"""Threshold for a missing bound; CP-SAT writes the extremes of 64 bits."""


Box = tuple[int, int]
PARAMETERS = "use_preprocessing: false use_dual_simplex: true"
"""GLOP parameters for warm starts from the last basis.

After a box is narrowed the new optimum is a few steps away. Preprocessing would lose the basis.
"""
ANEW = "use_preprocessing: true use_dual_simplex: false"
"""GLOP parameters of one retry from scratch after a numerical failure."""
SCALE = 1 << 30
"""Denominator of rounded duals."""


@dataclass(frozen=True)
class LinearRow:
    """Linear row: low <= sum of coefficient x variable <= high; None means unbounded."""

    low: int | None
    high: int | None
    variables: tuple[int, ...]
    coefficients: tuple[int, ...]


@dataclass(frozen=True)
class LinearModel:
    """Integer model: minimise the sum of costs plus `offset`, subject to rows.

    Variable i ranges from ``boxes[i][0]`` to ``boxes[i][1]``. `step` divides every cost, so every
    objective value is the offset plus a multiple of `step`.
    """

    boxes: Sequence[tuple[int, int]]
    costs: dict[int, int]
    offset: int
    rows: Sequence[LinearRow]

    @property
    def step(self) -> int:
        """Greatest common divisor of all costs."""
        return gcd(*self.costs.values()) or 1


def linear_model(model: cp_model.CpModel) -> LinearModel:
    """Return the linear rows of a model, with or without an objective."""
    proto: Any = model.proto
    boxes = [_ends(variable.domain) for variable in proto.variables]
    costs: dict[int, int] = {}
    for variable, coefficient in zip(proto.objective.vars, proto.objective.coeffs):
        positive, sign = (variable, 1) if variable >= 0 else (-variable - 1, -1)
        costs[positive] = costs.get(positive, 0) + sign * coefficient
    costs = {variable: cost for variable, cost in costs.items() if cost}
    rows = [row for constraint in proto.constraints for row in _rows(constraint)]
    return LinearModel(boxes, costs, int(proto.objective.offset), rows)


def _rows(constraint: Any) -> Iterator[LinearRow]:
    """Yield the rows of a constraint; of conditional ones only implications of two literals."""
    conditions = list(constraint.enforcement_literal)
    if conditions:
        if len(conditions) == 1 and constraint.has_bool_and():
            for literal in constraint.bool_and.literals:
                yield _sum([(literal, 1), (conditions[0], -1)], 0, None)
    elif constraint.has_linear():
        yield _linear(constraint.linear)
    elif constraint.has_exactly_one():
        yield _sum([(literal, 1) for literal in constraint.exactly_one.literals], 1, 1)
    elif constraint.has_at_most_one():
        yield _sum([(literal, 1) for literal in constraint.at_most_one.literals], None, 1)
    elif constraint.has_bool_or():
        yield _sum([(literal, 1) for literal in constraint.bool_or.literals], 1, None)
    elif constraint.has_bool_and():
        for literal in constraint.bool_and.literals:
            yield _sum([(literal, 1)], 1, 1)


def _ends(domain: Any) -> tuple[int, int]:
    """Return the lowest and the highest value of a domain; its holes are ignored.

    The protobuf list has no negative indices.
    """
    return int(domain[0]), int(domain[len(domain) - 1])


def _linear(linear: Any) -> LinearRow:
    terms: dict[int, int] = {}
    for variable, coefficient in zip(linear.vars, linear.coeffs):
        terms[variable] = terms.get(variable, 0) + coefficient
    low, high = _ends(linear.domain)
    return LinearRow(None if low < -INFINITE else low, None if high > INFINITE else high, tuple(terms), tuple(terms.values()))


def _sum(literals: list[tuple[int, int]], low: int | None, high: int | None) -> LinearRow:
    """Return a row over literals; a negated literal counts as 1 minus its variable."""
    terms, constant = dict[int, int](), 0
    for literal, coefficient in literals:
        if literal < 0:
            constant += coefficient
        variable, sign = (literal, 1) if literal >= 0 else (-literal - 1, -1)
        terms[variable] = terms.get(variable, 0) + sign * coefficient
    limits = [None if end is None else end - constant for end in (low, high)]
    return LinearRow(limits[0], limits[1], tuple(terms), tuple(terms.values()))


@dataclass(frozen=True)
class Point:
    """Optimum of the relaxation: objective value, variable values and duals."""

    value: float
    values: Sequence[float]
    duals: Sequence[float]


class LinearRelaxation:
    """Relaxation of a linear model; boxes may be narrowed between two solves."""

    def __init__(self, linear: LinearModel) -> None:
        self.linear = linear
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(PARAMETERS)
        self._variables = [solver.NumVar(low, high, "") for low, high in linear.boxes]
        self._rows: list[pywraplp.Constraint] = []
        infinity = solver.infinity()
        for row in linear.rows:
            constraint = solver.Constraint(-infinity if row.low is None else row.low, infinity if row.high is None else row.high)
            for variable, coefficient in zip(row.variables, row.coefficients):
                constraint.SetCoefficient(self._variables[variable], coefficient)
            self._rows.append(constraint)
        objective = solver.Objective()
        for variable, cost in linear.costs.items():
            objective.SetCoefficient(self._variables[variable], cost)
        objective.SetOffset(linear.offset)
        objective.SetMinimization()
        self._narrowed: set[int] = set()

    def solve(self, boxes: Mapping[int, Box]) -> Point | None:
        """Return an optimum with these boxes in place of the model's; None if GLOP fails."""
        for variable in sorted(self._narrowed - boxes.keys()):
            self._variables[variable].SetBounds(*self.linear.boxes[variable])
        for variable, box in boxes.items():
            self._variables[variable].SetBounds(*box)
        self._narrowed = set(boxes)
        status = self._solver.Solve()
        if status == pywraplp.Solver.ABNORMAL:
            status = self._anew()
        if status != pywraplp.Solver.OPTIMAL:
            return None
        values = [variable.solution_value() for variable in self._variables]
        return Point(self._solver.Objective().Value(), values, [row.dual_value() for row in self._rows])

    def _anew(self) -> int:
        parameters = pywraplp.MPSolverParameters()
        parameters.SetIntegerParam(parameters.INCREMENTALITY, parameters.INCREMENTALITY_OFF)
        self._solver.SetSolverSpecificParametersAsString(ANEW)
        status = self._solver.Solve(parameters)
        self._solver.SetSolverSpecificParametersAsString(PARAMETERS)
        return int(status)

    @property
    def iterations(self) -> int:
        """Simplex iterations of the last solve: deterministic work; undefined on failure."""
        return int(self._solver.iterations())


def proved_bound(linear: LinearModel, boxes: Mapping[int, tuple[int, int]], duals: Sequence[float]) -> int:
    """Return a proved lower bound over the integer solutions within the boxes.

    The bound is valid for any duals. With multipliers y of the rows, cost = (cost - sum of y x row)
    + sum of y x row. The first part is at least its minimum over the boxes, the second at least y x
    the row's bound on the side given by the sign of y. Costs are multiples of `step`, so the sum is
    rounded up.

    Parameters
    ----------
    boxes : variable -> bounds that replace the model's.
    duals : one for each row, of a minimisation.
    """
    residual = {variable: cost * SCALE for variable, cost in linear.costs.items()}
    total = 0
    for row, dual in zip(linear.rows, duals):
        weight = round(dual * SCALE)
        bound = row.low if weight > 0 else row.high
        if not weight or bound is None:
            continue
        total += weight * bound
        for variable, coefficient in zip(row.variables, row.coefficients):
            residual[variable] = residual.get(variable, 0) - weight * coefficient
    for variable, cost in residual.items():
        if cost:
            low, high = boxes.get(variable) or linear.boxes[variable]
            total += cost * (low if cost > 0 else high)
    step = linear.step
    return linear.offset + -(-total // (SCALE * step)) * step


class Emptiness:
    """Phase-1 relaxation to prove boxes empty: minimises the distance to the boxes.

    Every branching variable v has a copy w = v + above - below, and the boxes bound the copies. A
    positive minimum proves that no solution is in the boxes.
    """

    def __init__(self, linear: LinearModel, variables: Iterable[int]) -> None:
        boxes, rows, costs = list(linear.boxes), list(linear.rows), dict[int, int]()
        self._copies: dict[int, int] = {}
        for variable in variables:
            low, high = linear.boxes[variable]
            copy, above, below = range(len(boxes), len(boxes) + 3)
            boxes += [(low, high), (0, high - low), (0, high - low)]
            rows.append(LinearRow(0, 0, (copy, variable, above, below), (1, -1, -1, 1)))
            self._copies[variable] = copy
            costs[above] = costs[below] = 1
        self._linear = LinearModel(boxes, costs, 0, rows)
        self._relaxation = LinearRelaxation(self._linear)

    def is_proved(self, boxes: Mapping[int, Box]) -> bool:
        """Return True if the boxes are proved empty, in integers."""
        copy_boxes = {self._copies[variable]: box for variable, box in boxes.items()}
        point = self._relaxation.solve(copy_boxes)
        return point is not None and proved_bound(self._linear, copy_boxes, point.duals) > 0
