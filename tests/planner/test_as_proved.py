"""Status of a plan with counts chosen by time: the weaker proof of its counts and its placement."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.answer import Answer
from placewright.models.placements.plan import FEASIBLE, OPTIMAL, VERIFIED
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.solver.searching.search import solve

from ..solver.cases import cluster, problem
from .looped import CHAIN, timed

_JOB = problem(cluster({"count": 8}, {"count": 8}), timed("rollout", 1, 12, 60), timed("actor", 1, 11, 90))
ASKED = _JOB.with_workload(CHAIN)
PROVED, CUT = 10.0, 0.0
"""Deterministic seconds in which its counts are proved the best, and in which they are not."""


def placed_as(status: str, asked: Problem) -> Answer:
    """A placement of which no more is known than this."""
    answer = solve(asked)
    return answer if answer.plan is None else replace(answer, verdict=status, plan=replace(answer.plan, status=status))


@pytest.mark.parametrize(
    ("limit", "placement", "status"),
    [
        (PROVED, OPTIMAL, OPTIMAL),
        (PROVED, VERIFIED, OPTIMAL),  # ranks that follow from the counts leave nothing to search
        (PROVED, FEASIBLE, FEASIBLE),
        (CUT, OPTIMAL, FEASIBLE),
        (CUT, VERIFIED, FEASIBLE),
        (CUT, FEASIBLE, FEASIBLE),
    ],
)
def test_a_plan_is_as_well_proved_as_its_counts_and_its_placement(limit: float, placement: str, status: str) -> None:
    answer = Solver(lambda asked: placed_as(placement, asked), limit)(ASKED)
    assert answer.plan is not None and answer.planned is not None
    assert answer.planned.proved is (limit == PROVED)
    assert answer.verdict == answer.plan.status == status


def test_given_ranks_are_verified_whatever_they_take() -> None:
    given = solve(ASKED.with_workload(None))
    assert given.plan is not None
    ranks = given.plan.assignment.runs
    components = tuple(replace(each, runs=ranks[each.name]) for each in ASKED.components)
    answer = Solver(solve, PROVED)(replace(ASKED, job=replace(ASKED.job, components=components)))
    assert answer.planned is None and answer.plan is not None
    assert answer.verdict == answer.plan.status == VERIFIED
