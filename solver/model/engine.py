"""CP-SAT itself: one worker, a fixed seed and a deterministic limit, so that the same question gets the same answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ortools.sat.python import cp_model

from ..layout.layout import Values
from .variables import Variables


class Status(Enum):
    """What the solver said. Only OPTIMAL and FEASIBLE come with values; INFEASIBLE is not yet proof."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """What one run of the solver gave: decision values, objective and proved bound."""

    status: Status
    values: Values | None = None
    objective: int = 0
    bound: int = 0


class ModelRejected(Exception):
    """CP-SAT called the model invalid: a fault of ours, never of the input."""


def run(variables: Variables, limit: float, seed: int, presolve: bool = True) -> Outcome:
    """Solve a model. `limit` is in CP-SAT's deterministic time, about seconds; twice that in real seconds also ends it."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.linearization_level = 2
    solver.parameters.search_branching = cp_model.LP_SEARCH
    solver.parameters.max_deterministic_time = limit
    solver.parameters.max_time_in_seconds = 2 * limit + 1
    solver.parameters.cp_model_presolve = presolve
    status = solver.solve(variables.model)
    if status == cp_model.MODEL_INVALID:
        raise ModelRejected(variables.model.validate())
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = variables.values(lambda variable: solver.value(variable))
        found = Status.OPTIMAL if status == cp_model.OPTIMAL else Status.FEASIBLE
        return Outcome(found, values, round(solver.objective_value), round(solver.best_objective_bound))
    return Outcome(Status.INFEASIBLE if status == cp_model.INFEASIBLE else Status.UNKNOWN)
