"""Components that have whatever degrees another one has are planned with it: the best of what they take together."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.planning.measured import SECOND, Measured
from placewright.models.planning.workload import After, Timed, Workload
from placewright.models.problem import Problem
from placewright.solver.planning.answering import answering
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.searching.search import solve

from ...cases import cluster, problem

DEGREES = (Parallel(tp=1), Parallel(tp=2), Parallel(tp=4))
NAMES = ("actor", "ref", "rollout")
Times = dict[str, dict[Parallel, int]]


def component(name: str, times: dict[Parallel, int]) -> Component:
    points = tuple(Measured(8, seconds * SECOND, parallel=parallel) for parallel, seconds in times.items())
    return Component(name, least=8, most=8, parallel=DEGREES[0], timed=Timed(points))


def job(times: Times) -> Problem:
    """Three components on the same 8 accelerators, one after the other; the second has the degrees of the first."""
    asked = problem(cluster({"count": 8}), *(component(name, times[name]) for name in NAMES), together="actor+ref ref+rollout")
    workload = Workload((After("rollout", "ref", True), After("ref", "actor", True)))
    return replace(asked, job=replace(asked.job, workload=workload, choices={"actor": DEGREES}, tied={"ref": "actor"}))


@pytest.mark.parametrize("seed", range(20))
def test_the_degrees_are_those_with_which_all_of_them_take_least(seed: int) -> None:
    random = Random(seed)
    times: Times = {name: {parallel: random.randint(1, 100) for parallel in DEGREES} for name in NAMES}
    answer = answering(solve, 10.0, 1, settle)(job(times))
    assert answer.plan is not None and answer.planned is not None
    takes = {parallel: times["actor"][parallel] + times["ref"][parallel] + times["rollout"][DEGREES[0]] for parallel in DEGREES}
    assert answer.planned.best.nanoseconds == min(takes.values()) * SECOND
    assert answer.planned.proved and answer.planned.bound == answer.planned.best.nanoseconds
    assert answer.plan.degrees["ref"] == answer.plan.degrees["actor"]
    assert takes[answer.plan.degrees["actor"]] == min(takes.values())


def test_a_single_choice_that_is_not_the_files_own_is_that_of_the_other_too() -> None:
    """As where of several only one divides the model."""
    times: Times = {name: dict.fromkeys(DEGREES, 10) for name in NAMES}
    its = job(times)
    answer = answering(solve, 10.0, 1, settle)(replace(its, job=replace(its.job, choices={"actor": DEGREES[1:2]})))
    assert answer.planned is not None and answer.plan is not None
    assert {name: each.parallel for name, each in answer.planned.best.design.options.items() if name != "rollout"} == dict.fromkeys(
        ("actor", "ref"), DEGREES[1]
    )
    assert answer.plan.degrees == dict.fromkeys(("actor", "ref"), DEGREES[1])


def test_what_one_choice_leaves_open_is_open_of_the_whole() -> None:
    times: Times = {name: dict.fromkeys(DEGREES, 10) for name in NAMES}
    cut = answering(solve, 0.0, 1, settle)(job(times))
    assert cut.planned is None or not cut.planned.proved


@pytest.mark.parametrize(
    ("node", "degrees", "seconds"),
    [
        (2, DEGREES[1:], {(4, 2): 100, (4, 4): 10}),  # no node holds a group of four
        (3, DEGREES[:2], {(6, 1): 50, (4, 2): 100, (6, 2): 10}),  # a third of each node would be idle
    ],
)
def test_what_groups_over_nodes_could_save_is_told_of_all_choices(
    node: int, degrees: tuple[Parallel, ...], seconds: dict[tuple[int, int], int]
) -> None:
    points = tuple(Measured(count, its * SECOND, parallel=Parallel(tp=tp)) for (count, tp), its in seconds.items())
    parts = (Component(name, least=1, most=6, parallel=degrees[0], timed=Timed(points)) for name in ("actor", "ref"))
    asked = problem(cluster({"count": node}, {"count": node}), *parts, together="actor+ref")
    workload = Workload((After("ref", "actor", True),))
    its = replace(asked, job=replace(asked.job, workload=workload, choices={"actor": degrees}, tied={"ref": "actor"}))
    planned = answering(solve, 10.0, 1, settle)(its).planned
    assert planned is not None and planned.over_nodes is not None and planned.over_nodes.best is not None
    assert planned.best.nanoseconds > planned.over_nodes.best.nanoseconds == planned.over_nodes.bound == 20 * SECOND
    assert planned.over_nodes.components == ("actor", "ref")
