"""Where degrees follow from a choice, what is told of plans that nobody asked for is that of all choices."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.component import Component, Parallel
from placewright.models.planning.measured import SECOND, TABLE, Measured
from placewright.models.planning.workload import After, Timed, Workload
from placewright.models.problem import Problem
from placewright.solver.planning.answering import answering
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.searching.search import solve

from ...cases import cluster, problem

ANSWER = answering(solve, 10.0, 1, settle)
DEGREES = (Parallel(tp=1), Parallel(tp=2))


def job(random: Random) -> Problem:
    """Of three components on one node the last has the degrees of the second; few have a time on the same count."""

    def part(name: str, degrees: tuple[Parallel, ...]) -> Component:
        rows = [
            Measured(count, random.randint(10, 100) * SECOND, parallel=its)
            for its in degrees
            for count in random.sample((2, 3, 4, 5, 6), random.randint(1, 2))
        ]
        return Component(name, least=1, most=6, parallel=DEGREES[0], timed=Timed(tuple(rows), TABLE))

    names = ("rollout", "actor", "ref")
    its = problem(cluster({"count": 6}), *(part(name, DEGREES[:1] if name == "rollout" else DEGREES) for name in names))
    workload = Workload(tuple(After(one, other, False) for one, other in zip(names, names[1:])))
    return replace(its, job=replace(its.job, workload=workload, choices={"actor": DEGREES}, tied={"ref": "actor"}))


@pytest.mark.parametrize("seed", range(80))
def test_the_best_nested_plan_of_any_choice_is_told(seed: int) -> None:
    its = job(Random(seed))
    assert its.job.workload is not None
    planned = ANSWER(its).planned
    nested = ANSWER(replace(its, job=replace(its.job, workload=replace(its.job.workload, nested=True)))).planned
    if planned is None or nested is None:
        return
    assert planned.proved and nested.proved
    if planned.nested is None:
        assert nested.price[0] == planned.price[0]
    else:
        assert planned.nested.best is not None
        assert planned.nested.bound == planned.nested.best.nanoseconds == nested.price[0] < planned.price[0]
