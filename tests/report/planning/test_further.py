"""Plans on fewer accelerators and with other degrees, in words and as data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import placewright as pw
import pytest
from placewright.models.account import Account
from placewright.models.planning.workload import ACCELERATORS
from placewright.report.planning.alternatives import alternatives
from placewright.report.planning.data import to_data

from .accounts import CROSSING, account

ALONE = """
cluster: 1x8xH100
components:
  actor:
    accelerators: 2-8
    parallel: {tp: [2, 4]}
    seconds: [{accelerators: 8, tp: 2, seconds: 40}, {accelerators: 8, tp: 4, seconds: 44}]
    scaling: linear
"""
FEW = """
cluster: 1x8xH100
components:
  actor: {accelerators: 2-8, seconds: {8: 40}, scaling: linear}
plan: {minimise: accelerators, budget: {seconds: 100}}
"""
KINDS = """
cluster: 1x4xH100+1x4xA100
components:
  rollout:
    accelerators: 4-8
    parallel: {tp: [1, 2]}
    scaling: table
    seconds:
    - {accelerator: H100, accelerators: 4, tp: 1, seconds: 10}
    - {accelerator: A100, accelerators: 4, tp: 1, seconds: 10}
    - {accelerator: H100, accelerators: 4, tp: 2, seconds: 22}
    - {accelerator: H100, accelerators: 8, tp: 2, seconds: 11}
    - {accelerator: A100, accelerators: 4, tp: 2, seconds: 22}
    - {accelerator: A100, accelerators: 8, tp: 2, seconds: 11}
"""


def test_one_component_stands_beside_fewer_accelerators_and_other_degrees(tmp_path: Path) -> None:
    found = account(tmp_path, ALONE, 0)
    assert alternatives(found).splitlines() == [
        "on fewer accelerators or with other degrees, the best of each:",
        "  2. 8 accelerators, 44 seconds (10.0 % more): actor (tp 4) on 8",
        "     actor adds 4 more",
        "  3. 6 accelerators, 53.33 seconds (33.3 % more): actor (tp 2) on 6",
        "     actor adds 13.33 more",
        "  4. 4 accelerators, 80 seconds (100.0 % more): actor (tp 2) on 4",
        "     actor adds 40 more",
    ]


def test_beside_the_fewest_stands_the_quickest(tmp_path: Path) -> None:
    found = account(tmp_path, FEW, 0)
    assert found.planned.question.aim == ACCELERATORS
    assert alternatives(found).splitlines() == [
        "on more accelerators or with other degrees, the best of each:",
        "  2. 8 accelerators, 40 seconds (50.0 % less): actor on 8",
        "     actor adds 40 less",
    ]


def test_they_are_numbered_on_from_the_other_arrangements(tmp_path: Path) -> None:
    found = account(tmp_path, CROSSING, 0)
    assert len(found.alternatives) == 1
    numbers = [line.split(".")[0].strip() for line in alternatives(found).splitlines() if line[2:3].isdigit()]
    assert numbers == [str(number) for number in range(2, 2 + len(found.alternatives) + len(found.further))] and len(numbers) > 1


def test_a_program_reads_them(tmp_path: Path) -> None:
    data: Any = to_data(account(tmp_path, ALONE, 0))
    assert [(each["accelerators"], each["seconds"], each["proved"]) for each in data["further"]] == [
        (8, 44, True),
        (6, pytest.approx(53.33, abs=0.01), True),
        (4, 80, True),
    ]
    assert data["further"][0]["adds_more"] == {"actor": 4}
    assert data["further"][0]["components"]["actor"]["parallel"]["tp"] == 4


def test_where_not_all_is_proved_they_are_the_best_that_was_found(tmp_path: Path) -> None:
    found = account(tmp_path, ALONE, 0)
    unsure = replace(found.planned, further=tuple(replace(each, proved=False) for each in found.planned.further))
    assert alternatives(replace(found, planned=unsure)).startswith(
        "on fewer accelerators or with other degrees, the best that was found of each:"
    )


def test_one_that_is_better_than_an_unproved_plan_is_told_so(tmp_path: Path) -> None:
    """No plan that is proved has such; of one that is not, it must not be passed over in silence."""
    found: Account = account(tmp_path, ALONE, 0)
    assert "was found after it" not in alternatives(found)
    slow = replace(found.planned.best, nanoseconds=2 * found.planned.best.nanoseconds)
    text = alternatives(replace(found, planned=replace(found.planned, best=slow, proved=False)))
    assert "2. 8 accelerators, 44 seconds (45.0 % less)" in text
    assert text.endswith("better plans were found after the search, which was incomplete: raise `--limit`")


def test_given_ranks_have_none(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(ALONE.replace("accelerators: 2-8", "placement: 0-7").replace("tp: [2, 4]", "tp: 2"))
    found = pw.account(tmp_path / "job.yaml", sandbox=False)
    assert found.given and found.further == ()
