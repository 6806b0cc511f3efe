"""Every solution of a model satisfies its rows, and what is not linear is left out."""

from __future__ import annotations

from ortools.sat.python import cp_model
from placewright.solver.bounds.relaxation import LinearModel, linear_model


class _Solutions(cp_model.CpSolverSolutionCallback):
    def __init__(self, variables: list[cp_model.IntVar]) -> None:
        super().__init__()
        self.variables, self.found = variables, list[list[int]]()

    def on_solution_callback(self) -> None:
        self.found.append([self.value(variable) for variable in self.variables])


def holds(linear: LinearModel, point: list[int]) -> bool:
    for row in linear.rows:
        its = sum(point[variable] * coefficient for variable, coefficient in zip(row.variables, row.coefficients))
        if (row.low is not None and its < row.low) or (row.high is not None and its > row.high):
            return False
    return True


def test_rows_are_what_every_solution_satisfies() -> None:
    model = cp_model.CpModel()
    a, b, c, d = (model.new_bool_var(name) for name in "abcd")
    n = model.new_int_var_from_domain(cp_model.Domain.from_values([1, 2, 5]), "n")
    model.add(2 * a + 3 * b - n <= 1)
    model.add_exactly_one([a, ~b, c])
    model.add_bool_or([~a, d])
    model.add_implication(c, ~d)
    model.add_at_most_one([a, d, ~c])
    model.add(n == 5).only_enforce_if(d)
    model.minimize(3 * a - 6 * n + 9 * (1 - b) + 4)
    linear = linear_model(model)
    assert (linear.boxes[4], linear.step, linear.offset) == ((1, 5), 3, 13)
    assert linear.costs == {0: 3, 4: -6, 1: -9}
    assert len(linear.rows) == 5  # the conditional equation is left out
    solver, seen = cp_model.CpSolver(), _Solutions([a, b, c, d, n])
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model, seen)
    assert seen.found and all(holds(linear, point) for point in seen.found)
    assert not holds(linear, [1, 0, 0, 0, 1])  # a without d


def test_a_model_that_minimises_nothing_costs_nothing() -> None:
    model = cp_model.CpModel()
    model.new_bool_var("a")
    linear = linear_model(model)
    assert (linear.costs, linear.offset, linear.step) == ({}, 0, 1)
