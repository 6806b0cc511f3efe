"""The loop against the first of all designs, by their times, that has a placement; and lies that this catches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.answer import IMPOSSIBLE, Answer
from placewright.models.planning.workload import Workload
from placewright.models.problem import Problem
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.placing import placing
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.solver.searching.search import solve

from ..looped import CHAIN, drawn
from ..tried import priced


def first_that_can_be_placed(asked_for: Problem, workload: Workload) -> tuple[tuple[int, int] | None, int]:
    """The price of the best design that has a placement, and how many better ones have none; every design is tried."""
    question = planning_problem(asked_for.with_workload(workload))
    question = replace(question, areas=())
    seen: set[object] = set()
    without = 0
    for price, design in sorted(priced(question, False), key=lambda each: each[0]):
        key = design.blocks, tuple(design.options.items())
        if key in seen:
            continue
        seen.add(key)
        if solve(placing(asked_for, question, design)).plan is not None:
            return price, without
        without += 1
    return None, without


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(8, 9, 10, 12), (17, 20, 21, 31)])
def test_the_best_design_that_has_a_placement_is_found(seeds: tuple[int, ...]) -> None:
    for seed in seeds:
        asked_for = drawn(seed)
        best, _ = first_that_can_be_placed(asked_for, CHAIN)
        answer = plan(asked_for.with_workload(CHAIN), solve)
        if best is None:
            assert answer.plan is None, seed
            assert answer.verdict == IMPOSSIBLE, seed
            continue
        found = answer.planned
        assert found is not None, (seed, answer.findings)
        assert (found.best.nanoseconds, found.best.design.accelerators) == best, seed
        assert found.proved, seed
        assert not list(faults(found.question, cost_model("stream"), found.best.design))


def price_of(seed: int) -> object:
    answer = plan(drawn(seed).with_workload(CHAIN), solve)
    best = answer.planned.best if answer.planned else None
    return (best.nanoseconds, best.design.accelerators) if best else answer.verdict


TELLING = (17, 21, 46, 82)
"""Questions of which better designs have no placement, so that something is ruled out."""


def test_a_lie_about_what_is_ruled_out_loses_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = [price_of(seed) for seed in TELLING]
    assert IMPOSSIBLE not in truth
    monkeypatch.setattr("placewright.planner.benders.BendersLoop._probe", lambda *_: Answer(IMPOSSIBLE))
    assert any(price_of(seed) != true for seed, true in zip(TELLING, truth))
