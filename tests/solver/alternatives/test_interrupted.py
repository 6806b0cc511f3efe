"""Ctrl-C while alternatives are searched: those found until then are told, and no other is searched."""

from __future__ import annotations

import os
import signal

import pytest
from placewright.models.answer import Answer
from placewright.models.problem import Problem
from placewright.solver.alternatives import alternatives
from placewright.solver.searching.search import solve
from placewright.solver.session import Session

from ..cases import cluster, component, problem

COUNT = 5


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("answers", [True, False], ids=["the search answers all the same", "the search is ended by it"])
def test_those_found_until_then_are_told(at: int, answers: bool) -> None:
    asked = problem(cluster({"count": 4}, {"count": 4}, {"count": 4}), component("a", 4, 6), component("b", 3, 5))
    best = solve(asked).plan
    assert best is not None
    every, searches = alternatives(asked, best, COUNT, solve), 0
    assert len(every.found) > 3

    def interrupted(question: Problem) -> Answer:
        nonlocal searches
        searches += 1
        if searches == at:
            os.kill(os.getpid(), signal.SIGINT)
            if not answers:
                raise KeyboardInterrupt
        return solve(question)

    with Session() as session:
        found = alternatives(asked, best, COUNT, interrupted, session)
    assert session.cancelled and searches == at
    assert [each.plan.digest for each in found.found] == [each.plan.digest for each in every.found[:at]]
    assert not found.complete
