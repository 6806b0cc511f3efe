"""CP-SAT runs: a single worker, a fixed seed, a deterministic limit."""

from __future__ import annotations

import time
from contextlib import contextmanager
from enum import Enum
from math import ceil, inf, isfinite, ulp
from threading import Event, Thread
from typing import Any, Callable, Generic, Iterator, Mapping, Protocol, TypeVar

from ortools.sat.python import cp_model

from ...models.record import dataclass

A_SECOND = 2.0
"""Processor seconds per deterministic second of CP-SAT.

Measured: 1.3 to 1.7 on an idle machine, up to 2.5 on a busy machine.
"""
A_NEIGHBOUR_SECOND = 3.0
"""Processor seconds per deterministic second of a neighbourhood search; measured: 2.4 to 3.2."""
A_HINT = 0.5
"""Deterministic seconds to complete a hint; most are propagated at once."""
A_ROW = 1e-5
"""Processor seconds per model row outside CP-SAT's own count.

Measured: copying the row, reading the answer.
"""
LOOK = 0.02
"""Seconds between two looks at the processor time, near its end."""
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)
ROUNDING = 1e-6
"""Rounding tolerance of a bound on whole numbers."""
PLACES = 64
"""Rounding tolerance of a large bound, in units in the last place of its double.

CP-SAT scales its objective in doubles; errors of 16 units were seen.
"""


OnSolution = Callable[[V, int], None]
"""Callback for a better solution: decision values and the bound proved so far."""


class Status(Enum):
    """Verdict of the solver.

    Only OPTIMAL and FEASIBLE come with values. INFEASIBLE is not yet a proof.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


class Method(Enum):
    """Search method of the solver.

    RELAXATION branches on the linear relaxation. AUTOMATIC is CP-SAT's own search, with every row in
    its relaxation from the start. NEIGHBOURHOODS improves an answer without a bound: most decisions
    keep their values, the rest is searched, in turns.
    """

    RELAXATION = "relaxation"
    AUTOMATIC = "automatic"
    NEIGHBOURHOODS = "neighbourhoods"


@dataclass(frozen=True)
class Outcome(Generic[V]):
    """Result of a solver run: decision values, objective, proved bound, metered seconds."""

    status: Status
    values: V | None = None
    objective: int = 0
    bound: int | None = None
    spent: float = 0.0


class Solvable(Protocol[V_co]):
    """Model with a method to read its decision values."""

    model: cp_model.CpModel

    def values(self, value: Callable[[cp_model.IntVar], int]) -> V_co:
        """Return the decision values; `value` reads a variable."""
        ...


class ModelRejected(Exception):
    """Rejection of a model as invalid by CP-SAT: a bug in placewright, not in the input."""


def run(
    variables: Solvable[V], limit: float, seed: int, presolve: bool = True, *, method: Method = Method.RELAXATION,
    model: cp_model.CpModel | None = None, on_solution: OnSolution[V] | None = None, until: float = inf,
) -> Outcome[V]:  # fmt: skip
    """Solve a model.

    Parameters
    ----------
    limit : seconds of metered work (`A_SECOND`). There is no limit in real time: it would change
        answers on a busy machine.
    method : how the solver searches.
    model : narrowed copy of the variables' model, to solve instead.
    until : processor time of this process that ends the run, for a machine slower than metered.
    """
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.linearization_level = 2
    if method is Method.RELAXATION:
        solver.parameters.search_branching = cp_model.LP_SEARCH
    solver.parameters.add_lp_constraints_lazily = method is Method.RELAXATION
    solver.parameters.interleave_search = solver.parameters.use_lns_only = method is Method.NEIGHBOURHOODS
    a_second = A_NEIGHBOUR_SECOND if method is Method.NEIGHBOURHOODS else A_SECOND
    rows = A_ROW * len(variables.model.proto.constraints)
    solver.parameters.max_deterministic_time = max(0.0, limit - rows) / a_second
    solver.parameters.cp_model_presolve = presolve
    # the handler would stay: Ctrl-C would kill the calling process
    solver.parameters.catch_sigint_signal = False
    model = model or variables.model
    if method is Method.NEIGHBOURHOODS:
        _complete_hint(model)
    with _stop_at(solver, until):
        status = solver.solve(model, _Listener(variables, on_solution) if on_solution else None)
    if status == cp_model.MODEL_INVALID:
        raise ModelRejected(model.validate())
    spent = a_second * solver.response_proto.deterministic_time + rows
    bound = _whole(solver.best_objective_bound)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = variables.values(lambda variable: solver.value(variable))
        verdict = Status.OPTIMAL if status == cp_model.OPTIMAL else Status.FEASIBLE
        return Outcome(verdict, values, round(solver.objective_value), bound, spent)
    return Outcome(Status.INFEASIBLE if status == cp_model.INFEASIBLE else Status.UNKNOWN, bound=bound, spent=spent)


def _complete_hint(model: cp_model.CpModel) -> None:
    """Extend a hint of decisions to all variables: a neighbourhood search starts from a whole answer."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False
    solver.parameters.fix_variables_to_their_hinted_value = True
    solver.parameters.max_deterministic_time = A_HINT
    if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        values = list(solver.response_proto.solution)
        model.clear_hints()  # type: ignore[no-untyped-call]
        hint: Any = model.proto.solution_hint
        hint.vars.extend(range(len(values)))
        hint.values.extend(values)


@contextmanager
def _stop_at(solver: cp_model.CpSolver, until: float) -> Iterator[None]:
    """Stop the solver in the block at a processor time of this process."""
    finish = Event()

    def watch() -> None:
        while not finish.wait(max(LOOK, until - time.process_time())):
            if time.process_time() >= until:
                solver.stop_search()

    if until < inf:
        Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        finish.set()


def _whole(bound: float) -> int | None:
    """Return the bound as a whole number; None if nothing is proved."""
    if not isfinite(bound) or abs(bound) >= 2**53:
        return None
    near = round(bound)
    return near if abs(bound - near) <= max(ROUNDING, PLACES * ulp(bound)) else ceil(bound)


class _Listener(cp_model.CpSolverSolutionCallback, Generic[V]):
    def __init__(self, variables: Solvable[V], on_solution: OnSolution[V]) -> None:
        super().__init__()
        self._variables, self._tell = variables, on_solution

    def on_solution_callback(self) -> None:
        """Report a better solution; CP-SAT calls this."""
        self._tell(self._variables.values(lambda variable: self.value(variable)), _whole(self.best_objective_bound) or 0)


def narrow(model: cp_model.CpModel, values: Mapping[int, int], low: int, high: int) -> cp_model.CpModel:
    """Return a copy with variables fixed and the objective from `low` to `high`.

    Hints are kept.
    """
    copy = model.clone()
    proto: Any = copy.proto
    for variable, value in values.items():
        domain = proto.variables[variable].domain
        domain[0] = domain[1] = value
    offset = int(proto.objective.offset)
    proto.objective.domain.extend([low - offset, high - offset])
    return copy
