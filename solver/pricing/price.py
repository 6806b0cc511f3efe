"""Price of a change: the new answer against the old answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence, Union

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ...models.findings.finding import Finding
from ...models.placements.plan import Plan
from ...models.problem import Demand, Problem
from ..objectives import OBJECTIVES
from ..objectives.tiers import tiers
from .result import (
    BETTER,
    IMPOSSIBLE_NOW,
    LARGER,
    OPEN,
    POSSIBLE_NOW,
    RESIZED,
    SAME,
    SMALLER,
    WORSE,
    PricedChange,
    Pricing,
    accelerators_of,
    sizes_of,
)

Named = tuple[str, Union[Problem, tuple[Finding, ...]]]
"""(name of the change, changed problem, or the errors that refuse it)."""


def price(problem: Problem, changes: Sequence[Named], solve: Solve) -> Pricing:
    """Solve the problem unchanged and per change; equal problems are solved once."""
    before = solve(problem)
    solutions: list[tuple[Problem, Answer]] = [(problem, before)]
    after = []
    for name, variant in changes:
        if isinstance(variant, tuple):
            refusal = Answer(IMPOSSIBLE, findings=variant)
            after.append(PricedChange(name, refusal, effect(before, refusal)))
            continue
        answer = next((solution for question, solution in solutions if question == variant), None) or solve(variant)
        solutions.append((variant, answer))
        fewer = min(variant, problem, key=lambda candidate: len(candidate.demands))
        after.append(PricedChange(name, answer, effect(before, answer, _amounts(variant) != _amounts(problem), fewer)))
    return Pricing(before, tuple(after))


def without(problem: Problem, demands: Sequence[Demand]) -> Problem:
    """Return the problem without demands; dropped degrees leave no choice of degrees."""
    relaxation = problem.without(*demands)
    free_components = {demand.component for demand in demands if demand.field == "parallel"}
    choices = {name: degrees for name, degrees in relaxation.job.choices.items() if name not in free_components}
    return replace(relaxation, job=replace(relaxation.job, choices=choices))


def _amounts(problem: Problem) -> dict[str, tuple[object, ...]]:
    """Return component -> requested amount: processes of explicit ranks, else least and most."""
    assignment = problem.build_given()
    return {
        component.name: (assignment.world_size(component.name),)
        if component.runs is not None
        else (component.least, component.most, component.counts)
        for component in problem.components
    }


def effect(before: Answer, after: Answer, is_resized: bool = False, problem: Problem | None = None) -> str:
    """Return the effect of a change: iteration time if planned, then the objective tier by tier.

    With `is_resized` the job requests other amounts, so sizes are compared first. `problem` is the
    less demanding problem. On equal machines its objective judges both answers, so terms of only
    one of the problems do not count.
    """
    if after.verdict == UNDECIDED or (before.verdict == UNDECIDED and after.plan is None):
        return OPEN
    if after.plan is None or before.plan is None:
        if after.verdict == before.verdict == IMPOSSIBLE:
            return SAME
        return IMPOSSIBLE_NOW if after.plan is None else POSSIBLE_NOW
    if before.planned is not None and after.planned is not None:
        old_time, new_time = before.planned.price, after.planned.price
        if old_time != new_time:
            return BETTER if new_time < old_time else WORSE
    if is_resized and sizes_of(before) != sizes_of(after):
        old_size, new_size = accelerators_of(before), accelerators_of(after)
        return RESIZED if old_size == new_size else SMALLER if new_size < old_size else LARGER
    old, new = _costs(before.plan, after.plan, problem if before.planned is None and after.planned is None else None)
    return SAME if old == new else BETTER if new < old else WORSE


def _costs(before: Plan, after: Plan, problem: Problem | None) -> tuple[list[int], list[int]]:
    """Return the costs of two plans, tier by tier."""
    if problem is not None and problem.cluster == before.cluster == after.cluster and set(before.components) == set(after.components):
        common = tiers(problem)
        old, new = (
            [tier.value(problem.as_chosen(plan.degrees, plan.assignment), plan.assignment) for tier in common] for plan in (before, after)
        )
        return old, new
    weights = {term.name: term.weight for plan in (after, before) for term in plan.terms}
    values = [{term.name: term.value for term in plan.terms} for plan in (before, after)]
    tier_costs = [[weights[name] * plan_values.get(name, 0) for name in names] for names in _tiers(before, after) for plan_values in values]
    sums = [sum(costs) for costs in tier_costs]
    return sums[::2], sums[1::2]


def _tiers(before: Plan, after: Plan) -> list[set[str]]:
    """Return the terms per tier, most important first.

    A dropped demand may remove a term and renumber the tiers, so tiers of both plans are merged.
    """
    tiers = [{term.name: term.tier for term in plan.terms} for plan in (before, after)]
    groups: list[set[str]] = []
    for name in (term.name for term in OBJECTIVES if any(term.name in tier_of for tier_of in tiers)):
        if groups and any(name in tier_of and tier_of[name] in {tier_of.get(member) for member in groups[-1]} for tier_of in tiers):
            groups[-1].add(name)
        else:
            groups.append({name})
    return groups
