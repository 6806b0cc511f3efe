"""What a configuration comes to: how much it needs, what shares with what, and how every number comes about."""

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
"""Accelerators of a node, as machines have them."""


Verify = Callable[[Reading], Report]
Derive = Callable[[Problem], Sequence[Derivation]]


def explain(reading: Reading, again: Callable[[AsDeclared], Reading], verify: Verify, iteration_of: Derive) -> Explanation:
    """What the file that was read comes to.

    Where neither it nor the user says how many accelerators a node has, the fewest are assumed that do; `again` reads the file
    on such machines. `verify` gives the verdict on a file, `iteration_of` how long an iteration of its own ranks takes.
    """
    explained = partial(_explained, verify, iteration_of)
    if reading.problem is not None and not reading.problem.cluster.counted:
        return _assuming(reading, again, explained) or explained(reading)
    return explained(reading)


def _assuming(reading: Reading, again: Callable[[AsDeclared], Reading], explained: Callable[..., Explanation]) -> Explanation | None:
    """On the fewest accelerators a node that hold all ranks, each process on one node if that can be; None if no ranks are written."""
    least = next((int(each.value) for each in reading.derivations if each.name == ACCELERATORS_PER_NODE), 0)
    if not 0 < least <= MAX_ACCELERATORS_PER_NODE:
        return None
    on_least = again(AsDeclared(least))
    if on_least.problem is None or not on_least.problem.cluster.counted:
        return None
    first = explained(on_least, least)
    larger = (explained(again(AsDeclared(count)), count) for count in USUAL if count > least and first.report.errors)
    chosen = next((each for each in larger if len(each.report.errors) < len(first.report.errors)), first)
    missing = missing_in(reading, reading.unchecked)
    return replace(chosen, report=replace(chosen.report, missing=missing, machines=""))


def _explained(verify: Verify, iteration_of: Derive, reading: Reading, assumed: int = 0) -> Explanation:
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
