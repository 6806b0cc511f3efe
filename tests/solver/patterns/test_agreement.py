"""How a problem stands after a search by uses alone; the terms that it weighs are sums over domains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.machines.topology import domain
from placewright.models.placements.assignment import Assignment
from placewright.models.problem import Problem
from placewright.solver.layout.layout import Layout
from placewright.solver.objectives.tiers import tiers
from placewright.solver.objectives.traffic import DomainTerm
from placewright.solver.patterns.applicability import applies
from placewright.solver.search_scope import find_unsupported
from placewright.solver.searching.progress import silent
from placewright.solver.searching.search import solve
from placewright.solver.searching.state import ChoiceState, Search
from placewright.solver.searching.tiers import search_by_patterns as search

from .random_racks import racks


def by_patterns(problem: Problem) -> ChoiceState | None:
    """How the problem stands after it was searched by uses of domains alone; None where it cannot be."""
    layout = Layout(problem)
    standing = ChoiceState(layout, Search(problem, 1, silent))
    if find_unsupported(problem) or not applies(layout, standing.tiers):
        return None
    search(standing, 10.0)
    return standing


@pytest.mark.slow
def test_terms_are_sums_over_domains() -> None:
    checked = 0
    for seed in range(80):
        problem = racks(seed, most=20)
        plan = solve(problem).plan if not find_unsupported(problem) else None
        for tier in tiers(problem) if plan else ():
            for term, _ in tier.members:
                if plan and isinstance(term, DomainTerm):
                    empty = term.value(problem, Assignment({component.name: () for component in problem.components}))
                    held = _held(problem, plan.assignment, term.level)
                    costs = (cost.of_domain(amounts) for amounts in held.values() for cost in term.costs(problem))
                    assert term.value(problem, plan.assignment) == empty + sum(costs), (seed, term.name)
                    checked += 1
    assert checked > 50


def _held(problem: Problem, assignment: Assignment, level: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {domain(node, level): {} for node in problem.cluster.nodes}
    for component in problem.components:
        for (node, _), mask in assignment.masks(component.name).items():
            its = found[domain(problem.cluster.nodes[node], level)]
            its[component.name] = its.get(component.name, 0) + mask.bit_count()
    return found


def test_a_problem_without_alike_domains_is_decided_too() -> None:
    decided = 0
    for seed in range(60):
        problem = racks(seed, most=14)
        nodes = tuple(replace(node, taken=node.taken | (node.rank % 2)) for node in problem.cluster.nodes)
        standing = by_patterns(replace(problem, cluster=replace(problem.cluster, nodes=nodes)))
        decided += standing is not None and (standing.refuted or standing.is_proved)
    assert decided > 20
