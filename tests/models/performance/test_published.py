"""Predictions beside published figures: docs/performance.md shows every row, and states the median error."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest

from .published import (
    DENSE,
    GENERATED,
    ROWS,
    TRAINED,
    UPDATED,
    generation_of,
    generation_table,
    parts_of,
    step_of,
    table,
    trained_of,
    trained_table,
    update_of,
    update_table,
)

PAGE = (Path(__file__).parents[3] / "docs" / "performance.md").read_text("utf-8")


def test_the_page_shows_every_row_as_it_is_predicted() -> None:
    assert "\n".join(table()) in PAGE


@pytest.mark.parametrize("rows", [ROWS, [row for row in ROWS if row["model"] in DENSE]], ids=["all", "dense"])
def test_the_page_states_the_median_the_worst_and_how_many_the_interval_holds(rows: list[dict[str, Any]]) -> None:
    steps = [(step, row["step_seconds"]) for row in rows if (step := step_of(row))]
    errors = [abs(step.likely / measured - 1) for step, measured in steps]
    held = sum(step.low <= measured <= step.high for step, measured in steps)
    said = f"median error {statistics.median(errors):.0%}, worst {max(errors):.0%}; low and high hold {held} of {len(steps)}"
    assert said.replace("%", " %") in " ".join(PAGE.split()), said


def test_the_page_shows_generation_of_dense_models() -> None:
    found = [(generation_of(row), row["milliseconds"]) for row in GENERATED]
    assert "\n".join(generation_table()) in PAGE and all(row["source"] for row in GENERATED)
    held = sum(its.low <= measured <= its.high for its, measured in found)
    error = statistics.median(abs(its.likely / measured - 1) for its, measured in found)
    assert f"median error {100 * error:.0f} %; low and high hold {held} of {len(found)}." in PAGE


def test_the_page_shows_training() -> None:
    assert "\n".join(trained_table()) in PAGE
    found = [(trained_of(row), row["seconds"]) for row in TRAINED]
    held = sum(its.low <= measured <= its.high for its, measured in found)
    error = statistics.median(abs(its.likely / measured - 1) for its, measured in found)
    assert f"median error of training {100 * error:.0f} %; low and high hold {held} of {len(found)}." in PAGE


def test_the_page_shows_updates_of_weights() -> None:
    assert "\n".join(update_table()) in PAGE
    assert all(update_of(row).low <= row["seconds"] <= update_of(row).high for row in UPDATED)


def test_low_is_below_likely_and_likely_below_high() -> None:
    for row in ROWS:
        for seconds in (parts_of(row) or {}).values():
            assert 0 <= seconds.low <= seconds.likely <= seconds.high
