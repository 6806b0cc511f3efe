"""Why a component is where it is: where it may be at all, and what it would cost if it could not be there."""

from __future__ import annotations

from dataclasses import replace

from ...models.answer import Solve
from ...models.machines.node_group import NODE
from ...models.machines.topology import NODE_LEVEL, domain
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ...models.whyhere import WhyComponent, Without
from ..structure import level_of
from .barred import Barred

MOST_ASKED = 3
"""Of so many of its domains it is asked what it would cost without them."""


def why_component(problem: Problem, plan: Plan, name: str, solve: Solve) -> WhyComponent:
    """Why a component of a plan is where it is. Raises KeyError for a name that is none; `problem` is the question that was solved."""
    component, nodes = problem[name], problem.cluster.nodes
    level = level_of(problem) or NODE_LEVEL
    held: dict[str, int] = {}
    for run in plan.assignment.of(name):
        where = domain(nodes[run.node], level)
        held[where] = held.get(where, 0) + (run.amount or len(run.ranks))
    members = next(its for its in problem.colocated_sets if component in its)
    if problem.kind(component) == NODE or any(each.runs is not None for each in members):
        return WhyComponent(name, True, level, tuple(held.items()))
    barred = Barred(problem, members)
    counts = barred.by_rule()
    may = counts.pop("", 0)
    possible = tuple(dict.fromkeys(domain(node, level) for node in nodes if barred.why(node) is None))
    without = tuple(_without(problem, plan, name, level, where, solve) for where in list(held)[:MOST_ASKED])
    out = tuple(sorted(counts.items(), key=lambda its: (-its[1], its[0])))
    return WhyComponent(name, False, level, tuple(held.items()), (may, len(nodes)), out, possible, without)


def _without(problem: Problem, plan: Plan, name: str, level: str, where: str, solve: Solve) -> Without:
    gone = tuple(node.rank for node in problem.cluster.nodes if domain(node, level) == where)
    components = tuple(
        replace(each, excluded=tuple(sorted({*each.excluded, *gone}))) if each.name == name else each for each in problem.components
    )
    answer = solve(replace(problem, job=replace(problem.job, components=components)))
    if answer.plan is None:
        return Without(where, answer.verdict)
    now = {term.name: term.value for term in plan.terms}
    then = {term.name: term.value for term in answer.plan.terms}
    names = dict.fromkeys((*now, *then))
    changes = tuple((its, now.get(its, 0), then.get(its, 0)) for its in names if now.get(its, 0) != then.get(its, 0))
    return Without(where, answer.verdict, changes)
