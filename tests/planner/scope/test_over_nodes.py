"""Plans whose tensor parallel groups may lie over nodes, where the scope is spanning."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.component import TP, Component, Keep, Parallel
from placewright.models.machines.topology import NODE_LEVEL
from placewright.models.planning.workload import ACCELERATORS, SECOND, After, Budget, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.models.scope import SPANNING
from placewright.planner.answer import Solver
from placewright.planner.problem import planning_problem
from placewright.solver.rules.groups import torn, visits_of
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, problem
from ..tried import priced

ANSWER = Solver(solve, 10.0)


def timed(name: str, rows: dict[tuple[int, int], int]) -> Component:
    """(tp, accelerators) -> seconds."""
    points = tuple(Measurement(count, seconds * SECOND, parallel=Parallel(tp=tp)) for (tp, count), seconds in rows.items())
    return Component(name, least=1, most=64, parallel=Parallel(tp=min(tp for tp, _ in rows)), timed=TimedComponent(points))


def job(nodes: list[int], *components: Component, **plan: object) -> Problem:
    its = problem(cluster(*({"count": count} for count in nodes)), *components)
    names = [each.name for each in components]
    workload = Workload(tuple(After(one, other, False) for one, other in zip(names, names[1:])), **plan)  # type: ignore[arg-type]
    choices = {
        each.name: degrees
        for each in components
        if each.timed and len(degrees := tuple(dict.fromkeys(row.parallel for row in each.timed.measured if row.parallel))) > 1
    }
    return replace(its, job=replace(its.job, choices=choices, planning=replace(its.job.planning, workload=workload)))


def opened(its: Problem) -> Problem:
    """The same with the hint that lets groups lie over nodes."""
    keep = (Keep(TP, NODE_LEVEL, required=False),)
    return replace(its, job=replace(its.job, components=tuple(replace(each, keep=keep) for each in its.components)))


def random_job(random: Random) -> Problem:
    nodes = [random.choice([2, 3, 4, 6]) for _ in range(random.randint(2, 3))]
    parts = []
    for name in ("rollout", "actor")[: random.randint(1, 2)]:
        rows = {
            (tp, count): random.randint(10, 200) for tp in random.sample([1, 2, 4], random.randint(1, 2)) for count in (tp, 2 * tp, 3 * tp)
        }
        parts.append(timed(name, rows))
    if random.random() < 0.2:
        return job(nodes, *parts, aim=ACCELERATORS, budget=Budget(nanoseconds=random.randint(50, 300) * SECOND))
    return job(nodes, *parts)


@pytest.mark.parametrize("seed", range(40))
def test_the_best_with_groups_over_nodes_is_the_plan(seed: int) -> None:
    its = random_job(Random(seed))
    planned, other = ANSWER(its).planned, ANSWER(opened(its)).planned
    if planned is None:
        return
    assert other is not None and other.proved and other.price[0] <= planned.price[0]
    assert SPANNING not in other.question.scope.left_out
    assert its.job.planning.workload is not None
    question = planning_problem(its, over_nodes=True)
    assert other.price[0] >= min(price for price, _ in priced(question, False))[0]
    if not planned.question.scope.left_out:
        assert other.price[0] == planned.price[0]


def test_groups_are_found_on_the_nodes_that_they_lie_on() -> None:
    question = opened(job([6, 6], timed("rollout", {(4, 12): 40})))
    answer = ANSWER(question)
    assert answer.plan is not None
    visits = list(visits_of(question, "node", answer.plan.assignment, "rollout"))
    assert {group: (first, second) for group, ((_, first), (_, second)) in torn(visits, 4).items()} == {1: (0, 1)}
    assert torn(visits, 2) == {}
