"""Degrees that follow where one choice is best on several models at once and another on one: each design is told by the kinds it was found with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from placewright.models.answer import IMPOSSIBLE, Answer, Solve
from placewright.models.component import Component, Parallel
from placewright.models.planning.measured import SECOND, TABLE, Measured
from placewright.models.planning.workload import After, Timed, Workload
from placewright.models.problem import Problem
from placewright.report.planning.data import to_data
from placewright.report.planning.text import render
from placewright.solver.planning.after.account import Account
from placewright.solver.planning.after.accounting import account
from placewright.solver.planning.answering import answering
from placewright.solver.planning.searching.sizes.settling import settle
from placewright.solver.searching.search import solve

from ...cases import cluster, problem

NAMES, DEGREES = ("actor", "ref"), (Parallel(tp=1), Parallel(tp=2))


def component(name: str, *rows: Measured) -> Component:
    return Component(name, least=1, most=4, parallel=DEGREES[0], timed=Timed(rows, TABLE))


def row(count: int, seconds: int, tp: int, model: str) -> Measured:
    return Measured(count, seconds * SECOND, parallel=Parallel(tp=tp), model=model)


def job() -> Problem:
    """With tp 1 both are on all four accelerators, of both models, with tp 2 on two of one."""
    actor = component("actor", row(4, 30, 1, "H100"), row(4, 30, 1, "A100"), row(2, 10, 2, "H100"), row(2, 50, 2, "A100"))
    ref = component("ref", row(4, 10, 1, "H100"), row(4, 10, 1, "A100"), row(2, 35, 2, "H100"), row(2, 35, 2, "A100"))
    its = problem(cluster({"count": 2, "model": "A100"}, {"count": 2, "model": "H100"}), actor, ref, together="actor+ref")
    workload = Workload((After("ref", "actor", True),), heterogeneous=True)
    return replace(its, job=replace(its.job, workload=workload, choices={"actor": DEGREES}, tied={"ref": "actor"}))


def account_of(its: Problem, place: Solve) -> Account:
    planned = answering(place, 10.0, 1, settle)(its).planned
    assert planned is not None and planned.proved and planned.best.nanoseconds == 40 * SECOND
    return account(its, planned)


def test_a_flip_to_another_choice_is_told_with_its_models() -> None:
    found = account_of(job(), solve)
    data: Any = to_data(found)
    (to,) = (each["to"] for each in data["sensitivity"]["flips"] if each["component"] == "ref" and each.get("flips", 2) < 1)
    assert {name: (its["model"], its["parallel"]["tp"]) for name, its in to["components"].items()} == dict.fromkeys(NAMES, ("H100", 2))
    assert "actor (tp 2) and ref (tp 2) on 2 H100" in "\n".join(render(found))


def test_a_design_of_another_choice_that_has_no_placement_is_told_with_its_models() -> None:
    def place(part: Problem) -> Answer:
        out = any(each.parallel.tp == 2 and each.accelerator_model == "H100" for each in part.components)
        return Answer(IMPOSSIBLE) if out else solve(part)

    found = account_of(job(), place)
    data: Any = to_data(found)
    assert [each["components"]["actor"]["model"] for each in data["not_placeable"]] == ["H100"]
    assert "no placement has 45 seconds (12.5 % more): actor (tp 2) and ref (tp 2) on 2 H100" in "\n".join(render(found))
