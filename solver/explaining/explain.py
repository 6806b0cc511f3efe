"""Explanation of a configuration: needs, sharing, and the derivation of every number."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable, Sequence

from ...models.derivation import ACCELERATORS_PER_NODE, NOT_KNOWN, WORLD_SIZE, Derivation
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, AsDeclared
from ...models.placements.plan import VERIFIED, Plan
from ...models.problem import Problem
from ...models.reading import Reading
from ...models.report import Report
from ...models.text.environment import Environment
from ..unchecked import missing_in
from .demands import demands_of, timed_of
from .explanation import Explanation
from .needs import needs_of
from .numbers import numbers
from .sharing import sharing_of

NOT_SHOWN = "not shown"
USUAL = (1, 2, 4, 8, 16)
"""Usual numbers of accelerators per node."""


Verify = Callable[[Reading], Report]
Derive = Callable[[Problem], Sequence[Derivation]]


def explain(reading: Reading, again: Callable[[AsDeclared], Reading], verify: Verify, iteration_of: Derive) -> Explanation:
    """Return the explanation of a file.

    If neither the file nor the user states the accelerators per node, the smallest sufficient
    number is assumed; `again` reads the file on that cluster. `verify` returns the report on a
    reading; `iteration_of` derives the iteration time of explicit ranks.
    """
    explained = partial(_explained, verify, iteration_of)
    if reading.problem is not None and not reading.problem.cluster.counted:
        return _assuming(reading, again, explained) or explained(reading)
    return explained(reading)


def _assuming(reading: Reading, reread: Callable[[AsDeclared], Reading], explained: Callable[..., Explanation]) -> Explanation | None:
    """Explain the file on the smallest nodes that hold all ranks; None without ranks.

    Prefers nodes on which every process fits on one node.
    """
    least = next((int(derivation.value) for derivation in reading.derivations if derivation.name == ACCELERATORS_PER_NODE), 0)
    if not 0 < least <= MAX_ACCELERATORS_PER_NODE:
        return None
    on_least = reread(AsDeclared(least))
    if on_least.problem is None or not on_least.problem.cluster.counted:
        return None
    first = explained(on_least, least)
    larger = (explained(reread(AsDeclared(count)), count) for count in USUAL if count > least and first.report.errors)
    chosen = next((explanation for explanation in larger if len(explanation.report.errors) < len(first.report.errors)), first)
    missing = missing_in(reading, reading.unchecked)
    return replace(chosen, report=replace(chosen.report, missing=missing, machines=""))


def _explained(verify: Verify, iteration_of: Derive, reading: Reading, assumed: int = 0) -> Explanation:
    problem, report = reading.problem, verify(reading)
    secret = reading.document.environment
    if problem is None:
        return Explanation(report, derivations=tuple(_concealed(derivation, secret) for derivation in reading.derivations))
    unknown = {
        derivation.component for derivation in reading.derivations if derivation.name == WORLD_SIZE and derivation.value == NOT_KNOWN
    }
    planned = reading.to_solve.problem or problem
    needs = needs_of(problem, reading.document, unknown, planned)
    derived = numbers(problem, needs, reading.derivations, reading.document)
    plan = Plan(problem.cluster, problem.given(), VERIFIED)
    derivations = tuple(_concealed(derivation, secret) for derivation in (*derived, *iteration_of(planned)))
    demands = (*demands_of(problem), *timed_of(planned))
    return Explanation(report, plan, needs, sharing_of(problem), derivations, assumed, demands)


def _concealed(derivation: Derivation, secret: Environment) -> Derivation:
    """Hide a number that comes from the environment."""
    hidden = [figure.span in secret.places for figure in derivation.figures if figure.span]
    if not any(hidden):
        return derivation
    figures = tuple(
        replace(figure, value=NOT_SHOWN) if figure.span and figure.span in secret.places else figure for figure in derivation.figures
    )
    return replace(derivation, value=NOT_SHOWN, formula="from a value of the environment", figures=figures)
