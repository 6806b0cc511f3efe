"""The price of a change: what the answer is with it, beside what it is without."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...models.answer import IMPOSSIBLE, UNDECIDED, Answer, Solve
from ...models.demand import Demand
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..objectives import OBJECTIVES
from ..objectives.tiers import tiers
from .priced import (
    BETTER,
    IMPOSSIBLE_NOW,
    LARGER,
    OPEN,
    POSSIBLE_NOW,
    RESIZED,
    SAME,
    SMALLER,
    WORSE,
    Priced,
    Pricing,
    accelerators_of,
    sizes_of,
)

Named = tuple[str, Problem]
"""What is changed, and the question with it."""


def price(problem: Problem, changes: Sequence[Named], solve: Solve) -> Pricing:
    """Solve the question as it is and with each change. Nothing is solved twice that is the same question."""
    before = solve(problem)
    seen: list[tuple[Problem, Answer]] = [(problem, before)]
    after = []
    for name, changed in changes:
        answer = next((known for question, known in seen if question == changed), None) or solve(changed)
        seen.append((changed, answer))
        fewer = min(changed, problem, key=lambda each: len(each.demands))
        after.append(Priced(name, answer, effect(before, answer, _amounts(changed) != _amounts(problem), fewer)))
    return Pricing(before, tuple(after))


def without(problem: Problem, demands: Sequence[Demand]) -> Problem:
    """The question without these demands; degrees that are not demanded leave no choice either."""
    changed = problem.without(*demands)
    gone = {demand.component for demand in demands if demand.field == "parallel"}
    choices = {name: its for name, its in changed.job.choices.items() if name not in gone}
    return replace(changed, job=replace(changed.job, choices=choices))


def _amounts(problem: Problem) -> dict[str, tuple[object, ...]]:
    """Component -> how much is asked for it: processes of given ranks, else the least and the most."""
    given = problem.given()
    return {
        component.name: (given.world_size(component.name),)
        if component.runs is not None
        else (component.least, component.most, component.counts)
        for component in problem.components
    }


def effect(before: Answer, after: Answer, is_resized: bool = False, problem: Problem | None = None) -> str:
    """What the change comes to: the time of an iteration where counts were chosen by it, then tier by tier of the objective.

    `is_resized`: the job asks for other amounts, so that sizes are compared before anything else. `problem` is the question that
    demands less, by whose objective both answers are judged where they are on the same machines: what only one of the two asks for
    makes none of them better.
    """
    if after.verdict == UNDECIDED or (before.verdict == UNDECIDED and after.plan is None):
        return OPEN
    if after.plan is None or before.plan is None:
        if after.verdict == before.verdict == IMPOSSIBLE:
            return SAME
        return IMPOSSIBLE_NOW if after.plan is None else POSSIBLE_NOW
    if before.planned is not None and after.planned is not None:
        one, other = before.planned.price, after.planned.price
        if one != other:
            return BETTER if other < one else WORSE
    if is_resized and sizes_of(before) != sizes_of(after):
        old_size, new_size = accelerators_of(before), accelerators_of(after)
        return RESIZED if old_size == new_size else SMALLER if new_size < old_size else LARGER
    old, new = _costs(before.plan, after.plan, problem if before.planned is None and after.planned is None else None)
    return SAME if old == new else BETTER if new < old else WORSE


def _costs(before: Plan, after: Plan, problem: Problem | None) -> tuple[list[int], list[int]]:
    """What two plans cost, tier by tier."""
    if problem is not None and problem.cluster == before.cluster == after.cluster and set(before.components) == set(after.components):
        weighed = tiers(problem)
        old, new = (
            [tier.value(problem.as_chosen(plan.degrees, plan.assignment), plan.assignment) for tier in weighed] for plan in (before, after)
        )
        return old, new
    weights = {term.name: term.weight for plan in (after, before) for term in plan.terms}
    values = [{term.name: term.value for term in plan.terms} for plan in (before, after)]
    every = [[weights[name] * its.get(name, 0) for name in names] for names in _tiers(before, after) for its in values]
    sums = [sum(each) for each in every]
    return sums[::2], sums[1::2]


def _tiers(before: Plan, after: Plan) -> list[set[str]]:
    """The terms that are weighed together, most important first. Without a demand a term may be gone, so that tiers are numbered otherwise."""
    tiers = [{term.name: term.tier for term in its.terms} for its in (before, after)]
    found: list[set[str]] = []
    for name in (term.name for term in OBJECTIVES if any(term.name in its for its in tiers)):
        if found and any(name in its and its[name] in {its.get(other) for other in found[-1]} for its in tiers):
            found[-1].add(name)
        else:
            found.append({name})
    return found
