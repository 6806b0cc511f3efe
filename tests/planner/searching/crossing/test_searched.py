"""The search finds the design that takes least with the least of its traffic; a plan of it is proved by few placements."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import Answer
from placewright.models.job import Link
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import ACCELERATORS, SECONDS, After, Budget, Workload
from placewright.models.problem import Problem
from placewright.planner.check import find_broken_limits
from placewright.planner.costs import cost_model
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.planner.search.crossing import LeastCrossing
from placewright.planner.search.search import search
from placewright.solver.searching.search import solve

from ....solver.cases import cluster, problem
from ...looped import planned, timed
from ...tried import priced
from .questions import asked, crossing_of, drawn, least_placed

SEEDS = 40
Price = tuple[int, int]


def varied(seed: int) -> tuple[PlanningProblem, list[Price]]:
    """A question, some with few accelerators as its aim or a budget, and what every design of it costs with its least traffic."""
    random, question = Random(f"searched {seed}"), planning_problem(asked(seed))
    assert question.crossing is not None
    least = LeastCrossing(question, question.crossing)
    every = [
        (time + crossing_of(least, design), used)
        for (time, used), design in priced(question, False)
        if not any(find_broken_limits(question, design))
    ]
    if random.random() < 0.3:
        question = replace(question, aim=ACCELERATORS)
    if random.random() < 0.4 and every:
        most = random.choice(sorted(time for time, _ in every)[: len(every) // 2 + 1])
        question = replace(question, budget=Budget(nanoseconds=most))
        every = [(time, used) for time, used in every if time <= most]
    return question, [(time, used) if question.aim == SECONDS else (used, time) for time, used in every]


def with_traffic() -> list[int]:
    return [seed for seed in range(SEEDS) if planning_problem(asked(seed)).crossing is not None]


def test_the_least_with_its_traffic_is_found() -> None:
    for seed in with_traffic():
        question, every = varied(seed)
        found = search(question, cost_model("stream"))
        assert found.proved, seed
        assert (found.best.price if found.best else None) == min(every, default=None), seed


@pytest.mark.slow
def test_a_plan_is_the_best_of_all_placements() -> None:
    """Every design, and every way to lay it over the nodes."""
    proved = 0
    for seed in with_traffic():
        asked_for, workload = drawn(seed)
        best: int | None = None
        for (time, _), design in sorted(priced(planning_problem(asked_for.with_workload(workload)), False), key=lambda its: its[0]):
            if best is None or time < best:
                crosses = least_placed(asked_for, workload, design)
                best = best if crosses is None or (best is not None and time + crosses >= best) else time + crosses
        found = plan(asked_for.with_workload(workload), solve).planned
        assert (found is None) == (best is None), seed
        if found is not None and best is not None:
            total = found.best.nanoseconds + found.best.traffic
            assert found.bound <= best <= total, seed
            assert not found.proved or best == total, seed
            proved += found.proved
    assert proved > SEEDS * 3 // 4


def test_where_little_is_sent_for_a_long_time_hardly_anything_is_placed() -> None:
    """Without a bound on traffic, all 12 designs that are placed at most take longer than what nothing crosses for, and nothing is proved."""
    count: list[Problem] = []

    def place(part: Problem) -> Answer:
        count.append(part)
        return solve(part)

    parts = (timed("rollout", 1, 16, 120), timed("ref", 1, 16, 30), timed("actor", 2, 16, 96, tp=2, traffic=14_000))
    asked_for = problem(cluster({"count": 8}, {"count": 8}), *parts)
    asked_for = replace(asked_for, job=replace(asked_for.job, links=(Link("actor", "rollout", weights=14_000),)))
    chain = (After("rollout", "ref"), After("ref", "actor"))
    workload = Workload(chain, batches=32, bandwidth={"node": 100})
    _, found = planned(asked_for, workload, place)
    assert found.proved
    assert found.best.traffic == 0
    assert len(count) <= 6
