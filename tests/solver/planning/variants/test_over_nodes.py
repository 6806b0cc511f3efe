"""Plans whose tensor parallel groups lie over nodes: what they come to beside the plan whose groups do not."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.locality import TP, Keep
from placewright.models.machines.topology import NODE_LEVEL
from placewright.models.planning.measured import SECOND, Measured
from placewright.models.planning.workload import ACCELERATORS, After, Budget, Timed, Workload
from placewright.models.problem import Problem
from placewright.solver.planning.answering import answering
from placewright.solver.planning.asking.asked import asked
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.rules.groups.group_in_node import groups_over_nodes
from placewright.solver.searching.search import solve

from ...cases import cluster, problem
from ..tried import priced

ANSWER = answering(solve, 10.0, 1, settle)


def timed(name: str, rows: dict[tuple[int, int], int]) -> Component:
    """(tp, accelerators) -> seconds."""
    points = tuple(Measured(count, seconds * SECOND, parallel=Parallel(tp=tp)) for (tp, count), seconds in rows.items())
    return Component(name, least=1, most=64, parallel=Parallel(tp=min(tp for tp, _ in rows)), timed=Timed(points))


def job(nodes: list[int], *components: Component, **plan: object) -> Problem:
    its = problem(cluster(*({"count": count} for count in nodes)), *components)
    names = [each.name for each in components]
    workload = Workload(tuple(After(one, other, False) for one, other in zip(names, names[1:])), **plan)  # type: ignore[arg-type]
    choices = {
        each.name: degrees
        for each in components
        if each.timed and len(degrees := tuple(dict.fromkeys(row.parallel for row in each.timed.measured if row.parallel))) > 1
    }
    return replace(its, job=replace(its.job, workload=workload, choices=choices))


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


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_said_where_no_groups_over_nodes_are_better_and_else_the_best_of_them(seed: int) -> None:
    its = random_job(Random(seed))
    planned, other = ANSWER(its).planned, ANSWER(opened(its)).planned
    if planned is None:
        return
    assert other is not None and other.proved and other.price[0] <= planned.price[0]
    assert other.over_nodes is None
    over = planned.over_nodes
    if over is None:
        assert other.price[0] == planned.price[0]
        return
    assert over.bound <= other.price[0]
    assert its.job.workload is not None
    question = asked(its, its.job.workload, over_nodes=True)
    assert over.bound >= min(price for price, _ in priced(question, False))[0]
    if other.price[0] < planned.price[0]:
        assert over.best is not None and over.best == other.best and over.components


def test_the_components_are_those_whose_groups_lie_over_nodes() -> None:
    rollout = timed("rollout", {(4, 4): 100, (4, 8): 60, (4, 12): 40})
    actor = timed("actor", {(1, 4): 100, (1, 8): 60, (1, 12): 40})
    planned = ANSWER(job([6, 6], rollout, actor)).planned
    assert planned is not None and planned.proved and planned.best.nanoseconds == 120 * SECOND
    assert planned.over_nodes is not None and planned.over_nodes.best is not None
    assert (planned.over_nodes.bound, planned.over_nodes.components) == (80 * SECOND, ("rollout",))


def test_groups_of_all_nodes_alike_say_nothing() -> None:
    planned = ANSWER(job([8, 8], timed("rollout", {(4, 4): 100, (8, 8): 60, (2, 16): 40}))).planned
    assert planned is not None and planned.proved and planned.over_nodes is None


def test_groups_that_must_lie_on_a_node_by_a_hint_stay_there() -> None:
    kept = replace(timed("rollout", {(4, 4): 100, (4, 12): 40}), keep=(Keep(TP, NODE_LEVEL),))
    planned = ANSWER(job([6, 6], kept)).planned
    assert planned is not None and planned.proved and planned.over_nodes is None


def test_where_traffic_counts_they_are_planned_with_theirs() -> None:
    """What crosses a node takes a second, of 12 as of 8."""
    rollout = replace(timed("rollout", {(4, 8): 60, (4, 12): 40}), traffic=1024)
    planned = ANSWER(job([6, 6], rollout, bandwidth={"node": 1024})).planned
    assert planned is not None and planned.proved and planned.price[0] == 60 * SECOND + planned.best.traffic
    assert planned.over_nodes is not None and planned.over_nodes.best is not None
    assert planned.over_nodes.best.nanoseconds == 40 * SECOND
    assert planned.over_nodes.best.traffic == planned.best.traffic >= SECOND


def test_groups_are_found_on_the_nodes_that_they_lie_on() -> None:
    answer = ANSWER(opened(job([6, 6], timed("rollout", {(4, 12): 40}))))
    assert answer.plan is not None
    assert groups_over_nodes(4, answer.plan.assignment.repeats("rollout")) == {1: (0, 1)}
    assert groups_over_nodes(2, answer.plan.assignment.repeats("rollout")) == {}


def test_a_group_that_no_node_can_hold_is_told_too() -> None:
    """58 seconds on one; four as one group have no node, since the largest has three."""
    its = job([2, 3], timed("rollout", {(4, 4): 23, (1, 1): 58, (1, 2): 175, (1, 3): 159}))
    planned = ANSWER(its).planned
    assert planned is not None and planned.price[0] == 58 * SECOND and planned.over_nodes is not None
    best = planned.over_nodes.best
    assert best is not None and best.nanoseconds == planned.over_nodes.bound == 23 * SECOND
    assert planned.over_nodes.components == ("rollout",)
