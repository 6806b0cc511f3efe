"""What given ranks hold counts wherever accelerators are counted: for a budget, in what is said of it, in what a plan takes."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import Component
from placewright.models.placements.run import Run
from placewright.models.planning.workload import ACCELERATORS, SECOND, After, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.accounting import account
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.planner.search.search import search
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.searching.search import solve

from ..solver.cases import cluster, component, given, problem

CHAIN = Workload((After("rollout", "actor"),))
REWARD = given("reward", Run(range(6), 0, "Accelerator", 0, 1))


def timed(name: str, least: int, most: int) -> Component:
    return replace(component(name, least, most), timed=TimedComponent((Measurement(4, 60 * SECOND), Measurement(8, 40 * SECOND))))


def job(workload: Workload) -> Problem:
    asked_for = problem(cluster({"count": 8}, {"count": 8}), REWARD, timed("rollout", 2, 8), timed("actor", 2, 2))
    return asked_for.with_workload(workload)


def test_more_than_the_budget_is_told_of_all_components() -> None:
    model = cost_model("stream")
    best = search(planning_problem(job(CHAIN)), model).best
    assert best is not None and best.design.accelerators == 10
    tight = planning_problem(job(replace(CHAIN, budget=Budget(8))))
    assert "16 accelerators are used, 8 may be" in list(faults(tight, model, best.design))


def test_what_a_plan_takes_and_what_is_proved_of_it_is_of_all_components() -> None:
    workload = replace(CHAIN, aim=ACCELERATORS, budget=Budget(9))
    found = plan(job(workload), solve).planned
    assert found is not None and found.proved
    assert (found.best.design.accelerators, found.price[0], found.bound) == (2, 8, 8)
    its = account(job(workload), found)
    shown = to_data(its)
    assert (shown["accelerators"], shown["by_given_ranks"], shown["bound"]) == (8, 6, 8)
    assert render(its)[0].startswith("plan: 8 accelerators (6 of them by given ranks), ")


def test_a_budget_that_given_ranks_exceed_allows_nothing() -> None:
    answer = plan(job(replace(CHAIN, budget=Budget(4))), solve)
    assert answer.verdict == IMPOSSIBLE
    assert answer.findings[0].message == "impossible: at least 8 accelerators are needed, 4 may be used"
