"""Ranges whose processes may be in any order: groups better kept together, and what is proved of them."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Keep
from placewright.models.placements.plan import FEASIBLE, OPTIMAL
from placewright.models.problem import Problem
from placewright.solver.objectives.preferred import SplitGroups
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem


def pairs(any_order: bool, *counts: int) -> Problem:
    """Six accelerators in one range, in pairs better kept on a node."""
    keep = Keep("tp", "node", required=False)
    ranged = replace(component("a", 6, tp=2, contiguous=True, keep=(keep,)), any_order=any_order)
    return problem(cluster(*({"count": count} for count in counts)), ranged)


def test_pairs_stay_whole_where_any_order_permits() -> None:
    plan = solve(pairs(True, 1, 2, 3)).plan
    assert plan is not None
    assert SplitGroups().value(pairs(True, 1, 2, 3), plan.assignment) == 1
    assert [term.bound for term in plan.terms if term.name == SplitGroups.name] == [1]
    in_order = solve(pairs(False, 1, 2, 3)).plan
    assert in_order is not None
    assert SplitGroups().value(pairs(False, 1, 2, 3), in_order.assignment) == 2


def test_what_counting_does_not_prove_stays_open() -> None:
    """All three nodes are needed; counting knows of two, and the search prices groups in the order of the range."""
    free, in_order = (solve(pairs(any_order, 1, 2, 3)).plan for any_order in (True, False))
    assert free is not None and free.status == FEASIBLE
    assert in_order is not None and in_order.status == OPTIMAL
