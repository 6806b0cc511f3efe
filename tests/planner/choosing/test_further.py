"""Where few other arrangements are, a plan stands beside the best on fewer accelerators and with other degrees: as trying everything finds them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Iterator

import pytest
from placewright.models.answer import Answer
from placewright.models.component import Component, Parallel
from placewright.models.planning.planned import CostedDesign, PlanningResult
from placewright.models.planning.workload import ACCELERATORS, SECOND, SECONDS, After, Budget, Measured, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner import alternatives as further
from placewright.planner.answer import Solver
from placewright.planner.benders import ALTERNATIVES
from placewright.planner.problem import planning_problem
from placewright.solver.searching.search import solve
from placewright.solver.session import Session

from ...solver.cases import cluster, problem
from ..tried import priced

SEEDS = range(36)
DEGREES = (Parallel(tp=1), Parallel(tp=2), Parallel(tp=4))


def job(seed: int) -> Problem:
    """Two components on one node of 4 or 8, each with some degrees of its own time, one after the other or batch by batch."""
    random = Random(f"further {seed}")
    most = random.choice((4, 8))
    parts, choices = [], dict[str, tuple[Parallel, ...]]()
    for name in ("actor", "rollout"):
        degrees = tuple(random.sample(DEGREES, random.choice((1, 2, 3))))
        work = random.randint(60, 400)
        points = tuple(
            Measured(count, round(work * SECOND * random.uniform(0.8, 1.3) / count ** random.choice((0.6, 0.9, 1.0))), parallel=its)
            for its in degrees
            for count in (4, most)
        )
        parts.append(Component(name, least=1, most=most, parallel=degrees[0], timed=TimedComponent(points)))
        choices[name] = degrees
    its = problem(cluster({"count": most}), *parts)
    aim = ACCELERATORS if seed % 6 == 5 else SECONDS
    budget = Budget(most if seed % 4 else most - 1, 200 * SECOND if aim == ACCELERATORS else None)
    workload = Workload((After("rollout", "actor"),), batches=random.choice((1, 4)), aim=aim, budget=budget)
    return replace(its, job=replace(its.job, choices=choices, planning=replace(its.job.planning, workload=workload)))


@cache
def planned(seed: int) -> PlanningResult | None:
    return Solver(solve, 10.0)(job(seed)).planned


def best(its: Problem) -> tuple[int, int] | None:
    """What the best of all designs costs: ns and accelerators."""
    workload = its.job.planning.workload
    assert workload is not None
    every = (each for each, _ in priced(planning_problem(its, workload), False))
    found = min(every, default=None)
    return found if found is None or workload.aim == SECONDS else found[::-1]


def others(its: Problem, plan: PlanningResult) -> Iterator[Problem]:
    """What is asked beside a plan: fewer accelerators, or more of them where these are to be few; other degrees of one component."""
    workload = its.job.planning.workload
    assert workload is not None
    if workload.aim == ACCELERATORS:
        yield replace(its, job=replace(its.job, planning=replace(its.job.planning, workload=replace(workload, aim=SECONDS))))
    else:
        for most in {plan.held - 1, plan.held // 2, plan.held // 4} - {0}:
            budget = replace(workload.budget, accelerators=most)
            yield replace(its, job=replace(its.job, planning=replace(its.job.planning, workload=replace(workload, budget=budget))))
    for name, choices in its.job.choices.items():
        left = tuple(each for each in choices if each != plan.best.design.options[name].parallel)
        if left:
            yield replace(its, job=replace(its.job, choices={**its.job.choices, name: left}))


def cost(plan: PlanningResult, each: CostedDesign) -> tuple[int, int]:
    return each.nanoseconds, each.accelerators(plan.question)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_is_the_best_of_what_was_asked_for(seed: int) -> None:
    """And what is asked for, is another plan, and has room beside the other arrangements is among them."""
    plan, its = planned(seed), job(seed)
    if plan is None:
        return
    assert plan.proved and all(each.proved for each in plan.further)
    told = [cost(plan, each.priced) for each in plan.further]
    known = [cost(plan, each) for each in (plan.best, *plan.alternatives)]
    expected = {found for each in others(its, plan) if (found := best(each)) is not None and found != known[0]}
    assert set(told) <= expected
    if len(plan.alternatives) + len(told) < ALTERNATIVES:
        assert expected <= {*told, *known}
    assert len(plan.alternatives) + len(told) <= ALTERNATIVES
    designs = [plan.best.design, *(each.design for each in plan.alternatives), *(each.priced.design for each in plan.further)]
    assert all(one != other for place, one in enumerate(designs) for other in designs[place + 1 :])
    assert told == sorted(told, key=lambda each: each if plan.question.aim == SECONDS else each[::-1])


def test_most_jobs_of_two_have_as_many_alternatives_as_are_told() -> None:
    """So that the test above looks at something."""
    plans = [plan for seed in SEEDS if (plan := planned(seed)) is not None]
    assert len(plans) > 30
    assert sum(len(plan.alternatives) + len(plan.further) == ALTERNATIVES for plan in plans) > 20
    assert {plan.question.aim for plan in plans if plan.further} == {SECONDS, ACCELERATORS}


def test_what_takes_long_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(further, "SHARE", 0.0)
    assert all((plan := Solver(solve, 10.0)(job(seed)).planned) is None or not plan.further for seed in range(4))


def test_no_solver_is_loaded_for_them_where_the_plan_needed_none() -> None:
    """To load one takes longer than to plan: what cannot be placed without is left out."""

    session = Session()

    def place(asked: Problem) -> Answer:
        session.must_search()
        return replace(solve(asked), how="greedy")

    answer = Solver(place, 10.0, session)(job(0))
    assert answer.how == "greedy" and answer.planned is not None and answer.planned.further == ()
    answer = Solver(lambda asked: replace(place(asked), how="search"), 10.0, session)(job(0))
    assert answer.how == "search" and answer.planned is not None and answer.planned.further
