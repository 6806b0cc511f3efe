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
from placewright.solver.planning.variants.over_nodes import with_groups_over_nodes
from placewright.solver.searching.search import solve

from ...cases import cluster, problem

ANSWER = answering(solve, 10.0, 1, settle)
DEGREES = (Parallel(tp=1), Parallel(tp=2))


def job(random: Random, nodes: tuple[int, ...] = (6,), models: tuple[str, ...] = ("",)) -> Problem:
    """Of three components the last has the degrees of the second; few have a time on the same count. The first has times of each of the models."""

    def part(name: str, degrees: tuple[Parallel, ...]) -> Component:
        rows = [
            Measured(count, random.randint(10, 100) * SECOND, parallel=its, model=model)
            for model in (models if name == "rollout" else ("",))
            for its in degrees
            for count in random.sample([count for count in range(2, 7) if len(nodes) < 2 or count % its.tp == 0], random.randint(1, 2))
        ]
        return Component(name, least=1, most=6, parallel=DEGREES[0], timed=Timed(tuple(rows), TABLE))

    names = ("rollout", "actor", "ref")
    its = problem(
        cluster(*({"count": count, "model": model or "H100"} for count, model in zip(nodes, models * len(nodes)))),
        *(part(name, DEGREES[:1] if name == "rollout" else DEGREES) for name in names),
    )
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


@pytest.mark.parametrize("seed", [0, 8, 13, 24, 29])
def test_what_is_nested_over_nodes_is_told_of_choices_that_are_impossible_otherwise(seed: int) -> None:
    its = job(Random(seed), (3, 3))
    assert its.job.workload is not None
    planned = ANSWER(its).planned
    nested = replace(its, job=replace(its.job, workload=replace(its.job.workload, nested=True)))
    wide = ANSWER(with_groups_over_nodes(nested)).planned
    assert planned is not None and wide is not None and planned.proved and wide.proved
    told = [each.bound for each in (planned.over_nodes, planned.nested) if each is not None]
    assert planned.at_once is not None and planned.at_once.best is not None
    assert planned.at_once.bound == planned.at_once.best.nanoseconds == wide.price[0] < min([planned.price[0], *told])


@pytest.mark.parametrize("seed", [5, 15, 26])
def test_groups_over_nodes_of_several_models_are_told_of_choices_that_are_impossible_otherwise(seed: int) -> None:
    its = job(Random(seed), (3, 3), ("H100", "A100"))
    assert its.job.workload is not None
    its = replace(its, job=replace(its.job, workload=replace(its.job.workload, nested=True)))
    planned, wide = ANSWER(its).planned, ANSWER(with_groups_over_nodes(its)).planned
    assert planned is not None and wide is not None and planned.proved and wide.proved
    assert planned.over_nodes is not None and planned.over_nodes.best is not None
    assert planned.over_nodes.bound == planned.over_nodes.best.nanoseconds == wide.price[0] < planned.price[0]
