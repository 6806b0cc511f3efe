"""Where a plan changes if the times of one component are wrong, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from placewright.models.account import Account, PlanChange, Sensitivity
from placewright.report.planning.data import sensitivity_data
from placewright.report.planning.sensitivity import sensitivities

from .accounts import BY_HAND, account

BUDGET = "batches: 5, minimise: accelerators, budget: {seconds: 200}"


def lines(found: Account, *flips: PlanChange, left: tuple[tuple[str, int], ...] = ()) -> list[str]:
    return sensitivities(replace(found, sensitivity=Sensitivity(flips, left))).splitlines()


def test_a_change_is_one_line_with_its_factors_and_the_times_of_both_plans(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    best = replace(found.planned.best, nanoseconds=20_600_000_000)
    flip = PlanChange("rollout", 110, 125, 21_700_000_000, best)
    (line,) = lines(found, flip)
    assert line.startswith("plan changes if rollout takes 1.25x (holds to 1.1x): then 20.6 seconds instead of 21.7 with ")
    (line,) = lines(found, replace(flip, holds=100, placed=False))
    assert line.startswith("plan may change if rollout takes 1.25x: then 20.6 seconds ")


def test_at_most_the_three_nearest_changes_are_told(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND, 0)
    factors = (200, 50, 110, 90)
    every = [PlanChange(f"c{percent}", 100, percent, 1, found.planned.best) for percent in factors]
    said = [line.split()[3] for line in lines(found, *every, left=(("rollout", 110),))]
    assert said == ["c110", "c90", "c50"]


def test_what_was_not_decided_is_said_where_there_is_a_line_left(tmp_path: Path) -> None:
    left = (("rollout", 110), ("rollout", 90), ("actor", 75))
    assert lines(account(tmp_path, BY_HAND, 0), left=left) == [
        "not all changes are known: the search ended before it decided rollout and actor"
    ]


def test_a_plan_that_holds_at_every_factor_says_so(tmp_path: Path) -> None:
    assert lines(account(tmp_path, BY_HAND, 0)) == [
        "plan holds if any one component takes 0.5x, 0.75x, 0.9x, 1.1x, 1.25x, 1.5x or 2x its times"
    ]


def test_where_accelerators_are_to_be_few_they_are_compared(tmp_path: Path) -> None:
    found = account(tmp_path, BY_HAND.replace("batches: 5", BUDGET).replace("placement: 12-15", "accelerators: 4"), 0)
    best, held = found.planned.best, found.planned.all_accelerators
    block = replace(best.design.blocks[0], accelerators=best.design.blocks[0].accelerators + 1)
    more = replace(best, design=replace(best.design, blocks=(block, *best.design.blocks[1:])))
    (line,) = lines(found, PlanChange("rollout", 110, 125, 201_500_000_000, replace(more, nanoseconds=180_000_000_000)))
    assert f": then {held + 1} accelerators in 180 seconds instead of {held} in 201.5 with " in line
    (line,) = lines(found, PlanChange("rollout", 110, 125, 201_500_000_000, replace(best, nanoseconds=180_000_000_000)))
    assert ": then 180 seconds instead of 201.5 with " in line
    (line,) = lines(found, PlanChange("rollout", 110, 125, 201_500_000_000))
    assert line.endswith(": then it breaks its budget, and no plan is known that keeps it")


def test_json_has_all_of_it(tmp_path: Path) -> None:
    planned = account(tmp_path, BY_HAND, 0).planned
    flips = (PlanChange("rollout", 110, 125, 21_700_000_000, planned.best), PlanChange("actor", 100, 90, 1_000_000_000))
    data: Any = sensitivity_data(planned.question, Sensitivity(flips, (("actor", 110),), 7))
    assert data["searches"] == 7 and data["not_searched"] == [{"component": "actor", "from": 1.1}]
    first, second = data["flips"]
    assert {**first, "to": None} == {"component": "rollout", "holds": 1.1, "flips": 1.25, "takes": 21.7, "to": None}
    assert first["to"]["placed"] is True and first["to"]["seconds"] > 0
    assert second == {"component": "actor", "holds": 1.0, "flips": 0.9, "takes": 1.0, "to": None}
