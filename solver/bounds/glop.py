"""The linear relaxation of a model, solved by GLOP. What it says is rounded: no bound of it is proof (see exact.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping, Sequence

from ortools.linear_solver import pywraplp

from ...models.record import dataclass
from .linear_rows import LinearModel, Row

Box = tuple[int, int]
PARAMETERS = "use_preprocessing: false use_dual_simplex: true"
"""Each solution starts from the last basis: after a box was narrowed that is a few steps away. Preprocessing would lose it."""
ANEW = "use_preprocessing: true use_dual_simplex: false"
"""Where that fails for numerical reasons, once from the beginning in the other way."""


@dataclass(frozen=True)
class Point:
    """An optimum of the relaxation: the variables, what one more of each would cost, what one more of each row would."""

    value: float
    values: Sequence[float]
    reduced: Sequence[float]
    duals: Sequence[float]


class Relaxation:
    """The relaxation of a linear model, with boxes that may be narrowed between two solutions."""

    def __init__(self, linear: LinearModel) -> None:
        self.linear = linear
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(PARAMETERS)
        self._variables = [solver.NumVar(low, high, "") for low, high in linear.boxes]
        self._rows: list[pywraplp.Constraint] = []
        self._post(linear.rows)
        self._aim(linear)
        self._narrowed: set[int] = set()

    def _post(self, rows: Iterable[Row]) -> None:
        infinity = self._solver.infinity()
        for row in rows:
            made = self._solver.Constraint(-infinity if row.low is None else row.low, infinity if row.high is None else row.high)
            for variable, coefficient in zip(row.variables, row.coefficients):
                made.SetCoefficient(self._variables[variable], coefficient)
            self._rows.append(made)

    def _aim(self, linear: LinearModel) -> None:
        objective = self._solver.Objective()
        objective.Clear()
        for variable, cost in linear.costs.items():
            objective.SetCoefficient(self._variables[variable], cost)
        objective.SetOffset(linear.offset)
        objective.SetMinimization()

    def add(self, rows: Sequence[Row]) -> None:
        """From now on these rows hold too."""
        self.linear = replace(self.linear, rows=[*self.linear.rows, *rows])
        self._post(rows)

    def aim(self, costs: Mapping[int, int]) -> None:
        """From now on this sum is minimised."""
        self.linear = replace(self.linear, costs=dict(costs), offset=0)
        self._aim(self.linear)

    def solve(self, boxes: Mapping[int, Box]) -> Point | None:
        """An optimum with these boxes instead of the model's own; None if GLOP finds none."""
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
        reduced = [variable.reduced_cost() for variable in self._variables]
        return Point(self._solver.Objective().Value(), values, reduced, [row.dual_value() for row in self._rows])

    def _anew(self) -> int:
        parameters = pywraplp.MPSolverParameters()
        parameters.SetIntegerParam(parameters.INCREMENTALITY, parameters.INCREMENTALITY_OFF)
        self._solver.SetSolverSpecificParametersAsString(ANEW)
        status = self._solver.Solve(parameters)
        self._solver.SetSolverSpecificParametersAsString(PARAMETERS)
        return int(status)

    @property
    def iterations(self) -> int:
        """Steps of the simplex algorithm to the last optimum: what measures its work deterministically. Says nothing where none was found."""
        return int(self._solver.iterations())
