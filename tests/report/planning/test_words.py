"""Times and shares as they are written."""

from __future__ import annotations

import pytest
from placewright.report.planning.words import format_difference, percent, seconds


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0"), (1, "0.000000001"), (1_500, "0.0000015"), (375_000_000, "0.375"), (12_713_712_000, "12.71"), (999_960_000_000, "1000"),
        (1_234_500_000_000, "1234"), (10**16, "10000000"),
    ],
)  # fmt: skip
def test_seconds_have_four_digits_that_count(nanoseconds: int, text: str) -> None:
    assert seconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 10, "0 %"), (10, 10, "100 %"), (9_999, 10_000, "99 %"), (1, 10_000, "1 %"), (1, 2, "50 %"), (0, 0, "0 %")],
)
def test_only_a_whole_is_a_hundred_percent_and_only_nothing_is_none(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


@pytest.mark.parametrize(
    ("time", "text"),
    [(104, "4.0 % more"), (96, "4.0 % less"), (100, "as much"), (141, "41.0 % more"), (4 * 10**14, "more than 10,000 % more")],
)
def test_how_much_more(time: int, text: str) -> None:
    assert format_difference(time, 100) == text


def test_a_difference_that_does_not_show_is_no_equality() -> None:
    assert format_difference(1_000_001, 1_000_000) == "less than 0.1 % more"
