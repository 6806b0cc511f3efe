"""Engines that minimise the tiers of rows one after the other, each fixed before the next: CP-SAT, SCIP and HiGHS."""

from __future__ import annotations

import time
from math import ceil, isfinite
from typing import Callable, Mapping, Sequence

from .plain import Rows, Sum

Found = tuple[list[int], int, int]
"""(values of the variables, what the tier costs, what it costs at least)."""
Engine = Callable[[Rows, Sum, int, float, Sequence[int]], "Found | None"]
MOST = 10**12


def by_tiers(rows: Rows, engine: Engine, limit: float) -> list[tuple[int, int | None]]:
    """(cost, bound) of each tier; a tier has half of the CPU seconds that are left. Fewer where one found no answer."""
    found: list[tuple[int, int | None]] = []
    values: Sequence[int] = ()
    until = time.process_time() + limit
    for number, (terms, offset) in enumerate(rows.tiers):
        left = max(0.5, until - time.process_time())
        answer = engine(rows, terms, offset, left if number == len(rows.tiers) - 1 else left / 2, values)
        if answer is None:
            break
        values, cost, bound = answer
        found.append((cost, bound))
        rows.add(terms, None, cost - offset)
    return found


def cp_sat(rows: Rows, terms: Sum, offset: int, seconds: float, hint: Sequence[int]) -> Found | None:
    """CP-SAT with one worker that branches as its relaxation says."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    variables = [model.new_int_var(low, high, "") for low, high in rows.boxes]

    def sum_of(its: Mapping[int, int]) -> cp_model.LinearExpr:
        return cp_model.LinearExpr.weighted_sum([variables[each] for each in its], list(its.values()))

    for its, low, high in rows.rows:
        model.add_linear_constraint(sum_of(its), -MOST if low is None else low, MOST if high is None else high)
    model.minimize(sum_of(terms) + offset)
    for variable, value in zip(variables, hint):
        model.add_hint(variable, value)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.random_seed = 1, 1
    solver.parameters.linearization_level = 2
    solver.parameters.search_branching = cp_model.LP_SEARCH
    solver.parameters.max_time_in_seconds = seconds
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    bound = _proved(solver.best_objective_bound - offset, offset)
    return [solver.value(each) for each in variables], round(solver.objective_value), bound


def scip(rows: Rows, terms: Sum, offset: int, seconds: float, hint: Sequence[int]) -> Found | None:
    """SCIP of the same wheel."""
    from ortools.linear_solver import pywraplp

    solver = pywraplp.Solver.CreateSolver("SCIP")
    variables = [solver.IntVar(low, high, "") for low, high in rows.boxes]
    infinity = solver.infinity()
    for its, low, high in rows.rows:
        row = solver.Constraint(-infinity if low is None else low, infinity if high is None else high)
        for variable, coefficient in its.items():
            row.SetCoefficient(variables[variable], coefficient)
    for variable, cost in terms.items():
        solver.Objective().SetCoefficient(variables[variable], cost)
    solver.Objective().SetMinimization()
    solver.SetHint(variables[: len(hint)], list(map(float, hint)))
    solver.SetTimeLimit(int(1000 * seconds))
    if solver.Solve() not in (pywraplp.Solver.OPTIMAL, pywraplp.Solver.FEASIBLE):
        return None
    bound = _proved(solver.Objective().BestBound(), offset)
    return [round(each.solution_value()) for each in variables], round(solver.Objective().Value()) + offset, bound


def highs(rows: Rows, terms: Sum, offset: int, seconds: float, hint: Sequence[int]) -> Found | None:
    """HiGHS by highspy, which cannot be loaded beside OR-tools. Raises ImportError where it is not installed."""
    import highspy
    import numpy

    solver = highspy.Highs()
    for option, setting in (("output_flag", False), ("threads", 1), ("time_limit", seconds), ("mip_rel_gap", 0.0), ("random_seed", 1)):
        solver.setOptionValue(option, setting)
    count = len(rows.boxes)
    for number, (low, high) in enumerate(rows.boxes):
        solver.addCol(float(terms.get(number, 0)), float(low), float(high), 0, [], [])
    solver.changeColsIntegrality(count, numpy.arange(count, dtype=numpy.int32), [highspy.HighsVarType.kInteger] * count)
    for its, low, high in rows.rows:
        ends = (-highspy.kHighsInf if low is None else float(low), highspy.kHighsInf if high is None else float(high))
        solver.addRow(*ends, len(its), list(its), [float(coefficient) for coefficient in its.values()])
    if hint:
        start = highspy.HighsSolution()
        start.col_value = [*map(float, hint), *[0.0] * (count - len(hint))]
        solver.setSolution(start)
    solver.run()
    info = solver.getInfo()
    if info.primal_solution_status != 2:
        return None
    bound = _proved(info.mip_dual_bound, offset)
    return [round(value) for value in solver.getSolution().col_value], round(info.objective_function_value) + offset, bound


def _proved(bound: float, offset: int) -> int:
    """Return the least cost that a bound without its offset allows; 0 for an engine stopped before its first bound.

    No tier costs less than 0. Without a bound SCIP reports -1e20, and HiGHS NaN.
    """
    return max(0, ceil(bound - 1e-4) + offset) if isfinite(bound) else 0
