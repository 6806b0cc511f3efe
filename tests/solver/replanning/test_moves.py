"""Fewest moved groups really are the fewest: against every Assignment of small problems."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.component import Keep
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import OPTIMAL
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.objectives.moves import MoveTerm
from placewright.solver.objectives.tiers import tiers
from placewright.solver.search_scope import find_unsupported
from placewright.solver.searching.search import solve

from .. import parity
from ..cases import cluster, component, problem
from ..parity_cases.random_problems import random_problem


def holds(question: Problem, assignment: Assignment) -> bool:
    return not any(finding.severity is Severity.ERROR for finding in check(question, assignment))


def costs(question: Problem, assignment: Assignment) -> tuple[int, ...]:
    return tuple(tier.value(question, assignment) for tier in tiers(question))


def is_the_best_of_all(question: Problem, every: list[Assignment]) -> int:
    """How many groups must move; the answer moves no more, and of those with as few it is the cheapest."""
    best = min(costs(question, assignment) for assignment in every)
    plan = solve(question).plan
    assert plan is not None
    assert plan.status == OPTIMAL
    assert costs(question, plan.assignment) == best
    return MoveTerm().value(question, plan.assignment)


def near(question: Problem, previous: Assignment) -> Problem:
    return replace(question, previous=previous)


@pytest.mark.slow
def test_random_problems_near_random_assignments() -> None:
    source, moved, met = random.Random(5), 0, 0
    while met < 60:
        question = random_problem(source, most=500)
        every = list(parity.assignments(question))
        good = [assignment for assignment in every if holds(question, assignment)]
        if good and question.hinted:
            previous = source.choice(good if source.random() < 0.5 else every)
            if find_unsupported(near(question, previous)):
                continue
            moved += is_the_best_of_all(near(question, previous), good) > 0
            met += 1
    assert moved >= 5  # the random problems make some groups move


TWO_NODES = cluster({"count": 4}, {"count": 4})
PAIRS = cluster({"count": 2}, {"count": 2})
FULL = {
    "a": (Run(range(0, 1), 0, first=0), Run(range(1, 2), 1, first=0)),
    "b": (Run(range(0, 2), 0, first=1), Run(range(2, 4), 1, first=1)),
}
PARTS = {
    "a small group makes room for a large one": (problem(PAIRS, component("a", 2), component("c", 2, tp=2)), {"a": FULL["a"]}, 1),
    "all stay, and the new one goes where room is left": (problem(PAIRS, component("a", 2), component("c", 2)), {"a": FULL["a"]}, 0),
    "fewer are asked for: those that end are not moved": (problem(TWO_NODES, component("a", 1), component("b", 4)), FULL, 0),
    "two that held the same": (problem(TWO_NODES, component("a", 1), component("b", 1)), {"a": FULL["a"][:1], "b": FULL["a"][:1]}, 1),
    "a range moves out of the way of none": (
        problem(TWO_NODES, component("a", 2), component("r", 4, contiguous=True)),
        {"a": (Run(range(0, 2), 0, first=1, pitch=2),), "r": (Run(range(0, 4), 1),)},
        0,
    ),
    "a range that must grow over a group": (
        problem(cluster({"count": 4}), component("a", 1), component("r", 3, contiguous=True)),
        {"a": (Run(range(0, 1), 0, first=2),), "r": (Run(range(0, 2), 0),)},
        1,
    ),
    "a large group beyond the least that is asked for makes room for two small ones": (
        problem(cluster({"count": 4}), component("a", 2, 4, tp=2), component("b", 2, 4)), {"a": (Run(range(0, 4), 0),)}, 1
    ),
    "colocated ones move together and count once": (
        problem(cluster({"count": 2}, {"count": 2}), component("a", 2, tp=2), component("b", 2), component("c", 2), together="a+b"),
        {"a": (Run(range(0, 2), 0),), "b": (Run(range(0, 2), 0),), "c": (Run(range(0, 1), 0), Run(range(1, 2), 1))},
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_by_hand(name: str) -> None:
    question, previous, fewest = PARTS[name]
    question = near(question, Assignment(previous))
    every = [assignment for assignment in parity.assignments(question) if holds(question, assignment)]
    assert is_the_best_of_all(question, every) == fewest


def test_a_torn_replica_moves() -> None:
    racks = cluster(*({"count": 1, "rack": rack} for rack in "aabb"))
    actor = component("actor", 2, pp=2, keep=(Keep("replica", "rack"),))
    before = {"actor": (Run(range(0, 1), 1), Run(range(1, 2), 2)), "x": (Run(range(0, 1), 0),), "y": (Run(range(0, 1), 3),)}
    question = near(problem(racks, actor, component("x", 1), component("y", 1)), Assignment(before))
    every = [assignment for assignment in parity.assignments(question) if holds(question, assignment)]
    assert is_the_best_of_all(question, every) == 2


def test_what_is_promised_cell_by_cell_is_kept_there() -> None:
    """Small pieces over many equal nodes, of which some must go so that large ones fit."""
    for seed in range(12):
        source = random.Random(seed)
        nodes = source.choice([2, 3])
        where = cluster(*({"count": 4} for _ in range(nodes)))
        seats = [(node, index) for node in range(nodes) for index in range(4)]
        held = sorted(source.sample(seats, source.randint(2, 4)))
        runs = tuple(Run(range(i, i + 1), node, first=index) for i, (node, index) in enumerate(held))
        room = 4 * nodes - len(held)
        large = component("large", room // 4 * 4 or 4, tp=4) if source.random() < 0.6 else component("large", room // 2 * 2, tp=2)
        question = near(problem(where, component("small", len(held)), large), Assignment({"small": runs}))
        if parity.space(question) > 20_000:
            continue
        every = [assignment for assignment in parity.assignments(question) if holds(question, assignment)]
        if every:
            is_the_best_of_all(question, every)
