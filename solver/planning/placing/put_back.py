"""From the placement of what is beside given ranks to that of the problem as it was, and what is proved of it."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Answer
from ....models.component import Component
from ....models.part import among
from ....models.placements.assignment import Assignment
from ....models.placements.plan import FEASIBLE, OPTIMAL, Plan
from ....models.problem import Problem
from ...check import check
from ...layout.layout import Layout
from ...layout.parts import Parts
from ...objectives import OBJECTIVES
from ...objectives.tiers import plan_terms, tiers
from ...objectives.traffic.bytes_across import BytesAcross
from ...searching.standing import errors
from ...unchecked import unchecked
from ...unsearched.not_searched import not_searched
from .split import Split, hosts_of, in_runs


def put_back(problem: Problem, parted: Split, found: Answer, plan: Plan) -> Answer | None:
    """The answer with each component in one piece; None where the problem refuses that."""

    def at(component: Component) -> object:
        if component.name not in parted.kept:
            return plan.assignment.of(component.name)
        return in_runs(problem, component, {*parted.kept[component.name], *plan.assignment.accelerators(parted.beside[component.name])})

    assignment = Assignment({each.name: at(each) for each in problem.components})  # type: ignore[misc]
    if errors(check(_chosen(problem, plan), assignment)):
        return None
    return bounded(problem, replace(found, unchecked=tuple(unchecked(problem, assignment))), replace(plan, assignment=assignment))


def bounded(problem: Problem, answer: Answer, plan: Plan, least: int = 0) -> Answer:
    """The answer with this plan, and what counting proves of it; `least`: what it costs at least that something crosses."""
    chosen = _chosen(problem, plan)
    counted, its = _counted(chosen), tiers(chosen)
    proved = [sum(cost * bound for (_, cost), bound in zip(tier.members, bounds)) for tier, bounds in zip(its, counted)]
    if its and all(isinstance(term, BytesAcross) for term, _ in its[0].members):
        proved[0] = max(proved[0], least)
    bound = sum(tier.scale * amount for tier, amount in zip(its, proved))
    whole = replace(plan, terms=plan_terms(chosen, plan.assignment, counted, proved), bound=bound)
    whole = replace(whole, status=OPTIMAL if whole.objective <= bound else FEASIBLE)
    return replace(answer, verdict=whole.status, plan=whole)


def crossing(problem: Problem, plan: Plan) -> tuple[int, int]:
    """What it costs in a plan that something crosses, of what is searched, and what of that is proved, where traffic is weighed."""
    weights = problem.job.preference.weights
    costs = {term.name: weights.get(term.level, 1) for term in OBJECTIVES if isinstance(term, BytesAcross)}
    terms = [term for term in plan.terms if term.name in costs]
    proved = sum(costs[term.name] * term.bound for term in terms if term.tier == 0)
    return sum(costs[term.name] * term.value for term in terms), proved


def _chosen(problem: Problem, plan: Plan) -> Problem:
    """The problem with the degrees that were chosen."""
    components = (replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in problem.components)
    return replace(problem, job=replace(problem.job, choices={}, components=tuple(components)))


def _counted(problem: Problem) -> list[list[int]]:
    """For each tier of the objective, what counting alone proves of its terms, where given components that lie within open ones are not."""
    parts = Parts(problem)
    inside = {component.name for inner in hosts_of(parts).values() for each in inner for component in each.components}
    without = among(problem, {component.name for component in problem.components} - inside)
    links = tuple(link for link in problem.job.links if inside.isdisjoint((link.source, link.target)))
    without = replace(without, job=replace(without.job, links=links))
    layout = Layout(without) if without.hinted and not not_searched(without) else None
    return [[term.bound(layout) if layout else 0 for term, _ in tier.members] for tier in tiers(problem)]
