"""Trying every value and the solver come to the same answer."""

from __future__ import annotations

import random

import pytest
from placewright.models.answer import Answer
from placewright.models.component import WHOLE, Keep, Pin
from placewright.models.problem import Problem
from placewright.solver.enumeration import MOST_VALUES, combinations
from placewright.solver.layout.layout import Layout
from placewright.solver.searching import search as one_choice
from placewright.solver.searching.search import solve
from placewright.solver.session import Session

from ..cases import cluster, component, problem
from ..parity_cases.random_problems import random_demands, random_keeps, random_problem


def told(answer: Answer) -> tuple[str, list[tuple[str, int]]]:
    return answer.verdict, [(term.name, term.value) for term in answer.plan.terms] if answer.plan else []


@pytest.mark.slow
@pytest.mark.parametrize("make", [random_problem, random_demands, random_keeps], ids=lambda make: make.__name__)
def test_answers_are_those_of_the_solver(make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    source, settled = random.Random(5), []
    settle = one_choice.settle

    def noting(*arguments: object) -> bool:
        settled.append(settle(*arguments))  # type: ignore[arg-type]
        return settled[-1]

    for _ in range(25):
        question: Problem = make(source)  # type: ignore[operator]
        monkeypatch.setattr(one_choice, "settle", noting)
        mine = solve(question)
        monkeypatch.setattr(one_choice, "settle", lambda *arguments: False)
        assert told(mine) == told(solve(question)), question
    assert any(settled)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            problem(cluster({"count": 4}, {"count": 4}), *(component(name, 3, pins=(Pin(range(3), (0,)),)) for name in "ab")),
            "10 ways tried, all that there are",
        ),
        (
            problem(
                cluster({"count": 4, "rack": "r"}, {"count": 4, "rack": "s"}),
                *(component(name, 3, keep=(Keep(WHOLE, "rack"),)) for name in "ab"),
                component("c", 2, tp=2),
            ),
            "6 ways tried, all that there are",
        ),
    ],
)
def test_a_small_problem_without_a_placement_is_explained_without_a_solver(question: Problem, reason: str) -> None:
    session = Session()
    with session.without_search():
        (finding,) = solve(question, session=session).findings
    assert finding.code == "PW601" and reason in finding.message
    assert finding.help


def test_what_is_large_is_left_to_the_solver() -> None:
    small = problem(cluster({"count": 6}, {"count": 6}), component("a", 2, 6), component("b", 2, 6))
    assert combinations(Layout(small), MOST_VALUES)
    large = problem(cluster(*[{"count": 2, "rack": str(rank)} for rank in range(6)]), *[component(name, 1, 4) for name in "abcd"])
    assert combinations(Layout(large), MOST_VALUES) is None


def test_every_range_has_every_place() -> None:
    where = cluster({"count": 2}, {"count": 3}, {"count": 2})
    ranges = [component("a", 1, 4, contiguous=True), component("b", 2, 4, contiguous=True)]
    answer = solve(problem(where, component("c", 2), *ranges))
    assert answer.plan is not None
    assert {term.name: term.value for term in answer.plan.terms}["accelerators below the requested maximum"] == 3
