"""Times in words."""

from __future__ import annotations

from decimal import Decimal

import pytest
from placewright.models.planning.workload import SECOND
from placewright.solver.wording import exactly_in_seconds, exactly_in_time, figure, format_time, round_seconds, with_unit


@pytest.mark.parametrize(
    ("nanoseconds", "seconds", "time"),
    [
        (31_000_000, "0.031", "31 ms"),
        (700_000, "0.0007", "0.7 ms"),
        (400, "0.0000004", "0.0004 ms"),
        (1, "0.000000001", "0.000001 ms"),
        (12_345_678, "0.01235", "12.35 ms"),
        (100_000_000_001, "100.001", "100.001 s"),
        (100 * SECOND, "100", "100 s"),
        (20 * SECOND, "20", "20 s"),
    ],
)
def test_what_is_needed_is_told_as_no_less(nanoseconds: int, seconds: str, time: str) -> None:
    assert (round_seconds(nanoseconds), format_time(nanoseconds)) == (seconds, time)
    assert Decimal(seconds) * SECOND >= nanoseconds


def test_what_is_allowed_is_told_to_the_last_digit() -> None:
    assert exactly_in_seconds(600_000) == "0.0006"
    assert exactly_in_seconds(60 * SECOND + 1) == "60.000000001"
    assert exactly_in_time(600_000) == "0.6 ms"
    assert exactly_in_time(120 * SECOND) == "120 s"


def test_a_figure_has_no_exponent_and_is_not_nothing() -> None:
    assert [figure(each) for each in (20.1834, 0.0000004, 123456.0, 0.375)] == ["20.18", "0.0000004", "123500", "0.375"]


@pytest.mark.parametrize(("nanoseconds", "words"), [(SECOND, "1 second"), (SECOND // 2, "0.5 seconds"), (11 * SECOND, "11 seconds")])
def test_one_second_is_one(nanoseconds: int, words: str) -> None:
    assert with_unit(round_seconds(nanoseconds)) == words
