"""What a configuration comes to: how much it needs, what shares with what, and how every number comes about."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ...models.derivation import ACCELERATORS_PER_NODE, NOT_KNOWN, WORLD_SIZE, Derivation
from ...models.machines.shorthand import MAX_ACCELERATORS_PER_NODE, AsDeclared
from ...models.placements.plan import VERIFIED, Plan
from ...models.reading import Reading
from ...models.text.environment import Environment
from ..missing import missing_in
from ..verify import verify
from .demands import demands_of
from .explanation import Explanation
from .needs import needs_of
from .numbers import numbers
from .sharing import sharing_of
from .timing import iteration_of, timed_of

NOT_SHOWN = "not shown"
USUAL = (1, 2, 4, 8, 16)
"""Accelerators of a node, as machines have them."""


def explain(reading: Reading, again: Callable[[AsDeclared], Reading]) -> Explanation:
    """What the file that was read comes to.

    Where neither it nor the user says how many accelerators a node has, the fewest are assumed that do; `again` reads the file
    on such machines.
    """
    if reading.problem is not None and not reading.problem.cluster.counted:
        return _assuming(reading, again) or _explained(reading)
    return _explained(reading)


def _assuming(reading: Reading, again: Callable[[AsDeclared], Reading]) -> Explanation | None:
    """On the fewest accelerators a node that hold all ranks, each process on one node if that can be; None if no ranks are written."""
    least = next((int(each.value) for each in reading.derivations if each.name == ACCELERATORS_PER_NODE), 0)
    if not 0 < least <= MAX_ACCELERATORS_PER_NODE:
        return None
    on_least = again(AsDeclared(least))
    if on_least.problem is None or not on_least.problem.cluster.counted:
        return None
    first = _explained(on_least, least)
    larger = (_explained(again(AsDeclared(count)), count) for count in USUAL if count > least and first.report.errors)
    chosen = next((each for each in larger if len(each.report.errors) < len(first.report.errors)), first)
    missing = missing_in(reading, reading.unchecked)
    return replace(chosen, report=replace(chosen.report, missing=missing, machines=""))


def _explained(reading: Reading, assumed: int = 0) -> Explanation:
    problem, report = reading.problem, verify(reading)
    secret = reading.document.environment
    if problem is None:
        return Explanation(report, derivations=tuple(_concealed(each, secret) for each in reading.derivations))
    unknown = {each.component for each in reading.derivations if each.name == WORLD_SIZE and each.value == NOT_KNOWN}
    planned = reading.to_solve.problem or problem
    needs = needs_of(problem, reading.document, unknown, planned)
    told = numbers(problem, needs, reading.derivations, reading.document)
    plan = Plan(problem.cluster, problem.given(), VERIFIED)
    derivations = tuple(_concealed(each, secret) for each in (*told, *iteration_of(planned)))
    demands = (*demands_of(problem), *timed_of(planned))
    return Explanation(report, plan, needs, sharing_of(problem), derivations, assumed, demands)


def _concealed(derivation: Derivation, secret: Environment) -> Derivation:
    """The derivation, without a number that came from the environment."""
    hidden = [figure.span in secret.places for figure in derivation.figures if figure.span]
    if not any(hidden):
        return derivation
    figures = tuple(replace(f, value=NOT_SHOWN) if f.span and f.span in secret.places else f for f in derivation.figures)
    return replace(derivation, value=NOT_SHOWN, formula="from a value of the environment", figures=figures)
