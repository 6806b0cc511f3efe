"""Degrees that follow, in a heterogeneous plan."""

from __future__ import annotations

from dataclasses import replace

from placewright.models.component import Component, Parallel
from placewright.models.planning.workload import SECOND, TABLE, After, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.answer import Solver
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, problem

NAMES, DEGREES = ("actor", "ref"), (Parallel(tp=1), Parallel(tp=2))


def component(name: str, *rows: Measurement) -> Component:
    return Component(name, least=1, most=4, parallel=DEGREES[0], timed=TimedComponent(rows, TABLE))


def row(count: int, seconds: int, tp: int, model: str) -> Measurement:
    return Measurement(count, seconds * SECOND, parallel=Parallel(tp=tp), model=model)


def job() -> Problem:
    """With tp 1 both are on all four accelerators, of both models, with tp 2 on two of one."""
    actor = component("actor", row(4, 30, 1, "H100"), row(4, 30, 1, "A100"), row(2, 10, 2, "H100"), row(2, 50, 2, "A100"))
    ref = component("ref", row(4, 10, 1, "H100"), row(4, 10, 1, "A100"), row(2, 35, 2, "H100"), row(2, 35, 2, "A100"))
    its = problem(cluster({"count": 2, "model": "A100"}, {"count": 2, "model": "H100"}), actor, ref, together="actor+ref")
    workload = Workload((After("ref", "actor", True),), heterogeneous=True)
    return replace(
        its, job=replace(its.job, choices={"actor": DEGREES}, planning=replace(its.job.planning, workload=workload, tied={"ref": "actor"}))
    )


def test_each_choice_of_degrees_is_planned_with_each_choice_of_models() -> None:
    planned = Solver(solve, 10.0)(job()).planned
    assert planned is not None and planned.proved and planned.best.nanoseconds == 40 * SECOND
    assert planned.question.scope.on_models == dict.fromkeys(NAMES, ("A100", "H100"))
    assert len(planned.parts) == len(DEGREES) * 9
