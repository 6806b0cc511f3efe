"""CP-SAT itself: one worker, a fixed seed, a deterministic limit."""

from __future__ import annotations

from enum import Enum
from math import ceil, isfinite, ulp
from typing import Any, Callable, Generic, Mapping, Protocol, TypeVar

from ortools.sat.python import cp_model

from ...models.record import dataclass

A_SECOND = 2.0
"""Seconds of a processor that a deterministic second of CP-SAT takes: 1.3 to 1.7 were measured on an idle machine, up to 2.5 on a busy one."""
A_ROW = 4e-5
"""Seconds for each row of a model that CP-SAT does not count: making it, copying it, reading the answer. Measured."""
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
ROUNDING = 1e-6
"""What a bound on whole numbers may lie beside one by mere rounding."""
PLACES = 64
"""Of a large bound, so many times the last place of its double may be rounding: CP-SAT scales its objective in doubles (16 were seen)."""


OnSolution = Callable[[V, int], None]
"""Told of every better solution: its decision values and the bound that is proved by then."""


class Status(Enum):
    """What the solver said. Only OPTIMAL and FEASIBLE come with values; INFEASIBLE is not yet proof."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome(Generic[V]):
    """Result of one run of the solver: decision values, objective, proved bound, and metered seconds."""

    status: Status
    values: V | None = None
    objective: int = 0
    bound: int | None = None
    spent: float = 0.0


class Solvable(Protocol[V_co]):
    """A model, and how the decision values are read from its variables."""

    model: cp_model.CpModel

    def values(self, value: Callable[[cp_model.IntVar], int]) -> V_co:
        """The decision values, given a way to read one variable."""
        ...


class ModelRejected(Exception):
    """CP-SAT called the model invalid: a fault of ours, never of the input."""


def run(
    variables: Solvable[V], limit: float, seed: int, presolve: bool = True, *, by_relaxation: bool = True,
    model: cp_model.CpModel | None = None, on_solution: OnSolution[V] | None = None,
) -> Outcome[V]:  # fmt: skip
    """Solve a model.

    Parameters
    ----------
    limit : in seconds of metered work (`A_SECOND`). There is no limit in real time, which would change answers on a busy machine:
        a solver that does not keep to this one is killed with the process that it runs in (solver/sandbox).
    by_relaxation : branch as the linear relaxation says; else as CP-SAT itself would, with every row in its relaxation from the start.
    model : a narrowed copy of the variables' model, to be solved instead.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.linearization_level = 2
    solver.parameters.search_branching = cp_model.LP_SEARCH if by_relaxation else cp_model.AUTOMATIC_SEARCH
    solver.parameters.add_lp_constraints_lazily = by_relaxation
    rows = A_ROW * len(variables.model.proto.constraints)
    solver.parameters.max_deterministic_time = max(0.0, limit - rows) / A_SECOND
    solver.parameters.cp_model_presolve = presolve
    solver.parameters.catch_sigint_signal = False  # it would leave a handler behind with which Ctrl-C kills the process that called
    status = solver.solve(model or variables.model, _Listener(variables, on_solution) if on_solution else None)
    if status == cp_model.MODEL_INVALID:
        raise ModelRejected((model or variables.model).validate())
    spent = A_SECOND * solver.response_proto.deterministic_time + rows
    bound = _whole(solver.best_objective_bound)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = variables.values(lambda variable: solver.value(variable))
        found = Status.OPTIMAL if status == cp_model.OPTIMAL else Status.FEASIBLE
        return Outcome(found, values, round(solver.objective_value), bound, spent)
    return Outcome(Status.INFEASIBLE if status == cp_model.INFEASIBLE else Status.UNKNOWN, bound=bound, spent=spent)


def _whole(bound: float) -> int | None:
    """The bound as a whole number; None if nothing is proved."""
    if not isfinite(bound) or abs(bound) >= 2**53:
        return None
    near = round(bound)
    return near if abs(bound - near) <= max(ROUNDING, PLACES * ulp(bound)) else ceil(bound)


class _Listener(cp_model.CpSolverSolutionCallback, Generic[V]):
    def __init__(self, variables: Solvable[V], on_solution: OnSolution[V]) -> None:
        super().__init__()
        self._variables, self._tell = variables, on_solution

    def on_solution_callback(self) -> None:
        """Called by CP-SAT."""
        self._tell(self._variables.values(lambda variable: self.value(variable)), _whole(self.best_objective_bound) or 0)


def narrowed(model: cp_model.CpModel, fixed: Mapping[int, int], low: int, high: int) -> cp_model.CpModel:
    """The model with these variables at these values and an objective from `low` to `high`; its hints are kept."""
    copy = model.clone()
    proto: Any = copy.proto
    for variable, value in fixed.items():
        domain = proto.variables[variable].domain
        domain[0] = domain[1] = value
    offset = int(proto.objective.offset)
    proto.objective.domain.extend([low - offset, high - offset])
    return copy
