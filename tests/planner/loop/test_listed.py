"""Degrees that are as good as others are those of the file, or listed first, whatever was ruled out before they were chosen."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.models.parallel import Parallel
from placewright.models.problem import Problem
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, problem
from ..looped import planned, timed

LISTS = [(1, 2, 4), (4, 2, 1), (2, 4), (4, 2), (1, 4)]


def asked_for(own: int, listed: tuple[int, ...]) -> Problem:
    """Two components beside each other; one of them may have each of these degrees, and runs as long with any of them."""
    rollout = replace(timed("rollout", 4, 4), parallel=Parallel(tp=own))
    its = problem(cluster({"count": 8}), timed("actor", 1, 4), rollout, apart="actor+rollout")
    return replace(its, job=replace(its.job, choices={"rollout": tuple(Parallel(tp=each) for each in listed)}))


@pytest.mark.parametrize(("own", "listed"), list(product((1, 2, 4, 8), LISTS)))
def test_those_of_the_file_are_kept_and_else_the_first_is_taken(own: int, listed: tuple[int, ...]) -> None:
    def refused(problem: Problem) -> Answer:
        """As if no placement had more than two of the one beside the other, whatever its degrees."""
        amounts = {each.name: each.least for each in problem.components}
        return Answer(IMPOSSIBLE) if len(amounts) == 2 and amounts["actor"] > 2 else solve(problem)

    for place in (solve, refused):
        _, found = planned(asked_for(own, listed), place=place)
        assert found.best.design.options["rollout"].parallel.tp == (own if own in listed else listed[0])
        assert found.unplaceable or place is solve
