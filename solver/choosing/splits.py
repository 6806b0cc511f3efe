"""Accelerators split without times: how many splits are equally good, and what would decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...models.answer import Answer, Solve
from ...models.component import Component
from ...models.findings.finding import Finding, Severity
from ...models.placements.plan import Plan
from ...models.problem import AMOUNT, Problem
from ...models.roles import REFERENCE, REWARD, role_of
from ..layout.layout import fits
from ..objectives.counts import MissingAccelerators, UnevenCounts, counts_in, open_sets, range_of, weight_of
from ..wording import join_names

NOT_SEARCHED = "PW604"
MOST_STEPS = 3_000_000
"""Limit on additions to count splits; larger numbers stay unknown."""
FORWARD_ONLY = (REFERENCE, REWARD)
"""Roles that work a short while, and elsewhere share accelerators."""


def with_splits(problem: Problem, place: Solve) -> Answer:
    """Place without times, and name the splits that are as good as the chosen one.

    After findings, such as a refusal by the framework, it is unknown which splits are as good.
    """
    answer = place(problem)
    if answer.plan is None or answer.findings:
        return answer
    fixed_problem = problem.as_chosen(answer.plan.degrees, answer.plan.assignment)
    splits = count_splits(fixed_problem, answer.plan)
    if splits < 2:
        return answer
    note = _note(fixed_problem, answer.plan, splits)
    return replace(answer, splits=splits if is_even_alone(answer.plan) else 0, findings=(*answer.findings, note))


def count_splits(problem: Problem, plan: Plan) -> int:
    """Return the number of splits with as many accelerators as the plan; 0 if unknown.

    Each count is one that the component accepts; their places are not searched.
    """
    total, sets = sum(counts_in(problem, plan.assignment)), open_sets(problem)
    if len(sets) < 2 or not weight_of(problem) or sum(map(len, map(_reach, sets))) * total > MOST_STEPS:
        return 0
    split_counts = [1] + [0] * total
    for members in sets:
        counts = [count for count in _reach(members) if all(_accepts(problem, component, count) for component in members)]
        split_counts = [sum(split_counts[amount - count] for count in counts if count <= amount) for amount in range(total + 1)]
    return split_counts[total]


def _reach(members: Sequence[Component]) -> range:
    lower, upper = range_of(members)
    return range(lower, upper + 1)


def _accepts(problem: Problem, component: Component, count: int) -> bool:
    return count % component.step == 0 and fits(problem, component, count)


def is_even_alone(plan: Plan) -> bool:
    """Return True if nothing but the evenness of counts decides between splits."""
    return {term.name for term in plan.terms} <= {MissingAccelerators.name, UnevenCounts.name}


def _note(problem: Problem, plan: Plan, splits: int) -> Finding:
    sets = [members[0] for members in open_sets(problem)]
    total = sum(counts_in(problem, plan.assignment))
    message = f"{splits:,} splits of {total} accelerators are equally good without times; the most even is chosen"
    if not is_even_alone(plan):
        message = f"{splits:,} splits add up to {total} accelerators; without times the objective chooses, then the most even"
    help_text = f"to choose by time, add `seconds` to {join_names([component.name for component in sets])}"
    if all(component.estimate and component.estimate.model for component in sets):
        help_text += ", or estimate them: write `plan: {batch: {prompts: 1024, samples: 8, response: 4096}}`"
    small = [component for component in sets if role_of(component) in FORWARD_ONLY and not component.memory]
    host = next((component for component in sets if component not in small and not component.memory), None)
    if small and host is not None:
        help_text += f"; or add `colocate_with: {host.name}` to {join_names([component.name for component in small])}, if they take turns"
    return Finding(NOT_SEARCHED, Severity.NOTE, sets[0].name, message, sets[0].span(AMOUNT), help=help_text)
