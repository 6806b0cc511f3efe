"""The account of a plan: how long it is searched for, and that jobs of some size get all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import placewright as pw
import pytest
from placewright.models.account import Sensitivity
from placewright.models.planning.planned import PlanningResult
from placewright.planner import accounting
from placewright.planner.accounting import account

from ..texts import FOUR_IN_A_CIRCLE


@pytest.fixture
def solved(tmp_path: Path) -> tuple[pw.Problem, PlanningResult]:
    (tmp_path / "train.yaml").write_text(FOUR_IN_A_CIRCLE)
    problem = pw.load(tmp_path / "train.yaml").problem
    planned = pw.solve(tmp_path / "train.yaml", sandbox=False).planned
    assert problem is not None and planned is not None
    return problem, planned


def test_with_two_in_a_circle_and_one_within_another_all_is_known(solved: tuple[pw.Problem, PlanningResult]) -> None:
    """What is kept in memory decides who may be inside whom."""
    problem, planned = solved
    found = account(problem, planned).sensitivity
    assert found is not None and not found.left
    told = {(flip.component, flip.holds, flip.flips) for flip in found.flips}
    assert told == {("rollout", 110, 125), ("rollout", 75, 50), ("actor", 125, 150), ("actor", 90, 75)}


@pytest.mark.parametrize(("limit", "spent", "left"), [(10.0, 0.01, 9.99), (10.0, 9.5, 3.0), (60.0, 20.0, 40.0), (1.0, 0.9, 0.3)])
def test_where_hints_are_wrong_is_searched_in_what_the_plan_left(
    solved: tuple[pw.Problem, PlanningResult], monkeypatch: pytest.MonkeyPatch, limit: float, spent: float, left: float
) -> None:
    asked = []

    def sensitivity(planned: PlanningResult, most: int, limit: float, *more: object) -> Sensitivity:
        asked.append(limit)
        return Sensitivity()

    monkeypatch.setattr(accounting, "sensitivity", sensitivity)
    problem, planned = solved
    assert 0 < planned.spent < 1
    account(problem, replace(planned, spent=spent), limit=limit)
    assert asked == [pytest.approx(left)]
