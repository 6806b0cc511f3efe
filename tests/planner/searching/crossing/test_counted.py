"""To count what crosses between sets of a hundred accelerators takes the time of many parts: it is time that is spent."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.job import Link
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import After, Workload
from placewright.planner.costs import cost_model
from placewright.planner.problem import planning_problem
from placewright.planner.search.branching import Branching
from placewright.planner.search.choices import BlockChoices
from placewright.planner.search.search import search
from placewright.planner.search.sizing import Sizing
from placewright.planner.search.structures import arrangements, divide

from ....solver.cases import cluster, problem
from ...looped import timed

NAMES = "abcd"
MODEL = cost_model("stream")


def question() -> PlanningProblem:
    """Four in a chain on 16 nodes of eight, each of which sends weights to the next."""
    parts = [timed(name, 1, 128, 600, 0.9, traffic=2_000) for name in NAMES]
    found = problem(cluster(*({"count": 8} for _ in range(16))), *parts)
    links = tuple(Link(one, other, weights=9_000) for one, other in zip(NAMES, NAMES[1:]))
    chain = tuple(After(one, other) for one, other in zip(NAMES, NAMES[1:]))
    return planning_problem(
        replace(found, job=replace(found.job, links=links)).with_workload(Workload(chain, batches=4, bandwidth={"node": 50_000}))
    )


def test_it_takes_time_once_for_the_same_sets() -> None:
    asked_for = question()
    ways = BlockChoices(asked_for, MODEL.divisor(asked_for))
    apart = next(
        each for found in arrangements(asked_for, MODEL, False) for each in divide(asked_for, MODEL, found) if len(each.sets) == len(NAMES)
    )
    taken = [Branching(Sizing(asked_for, MODEL, apart, ways)).search(None, 1) for _ in range(2)]
    assert taken[0] > 1
    assert taken[1] == 1
    assert ways.counted >= 16 * 16


def test_a_search_of_little_time_proves_nothing() -> None:
    asked_for = question()
    found = search(asked_for, MODEL, limit=0.01)
    assert found.best is not None
    assert not found.proved
