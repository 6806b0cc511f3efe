"""Numbers and times in sentences."""

from __future__ import annotations

import pytest
from placewright.models.planning.measured import SECOND
from placewright.solver.durations import in_seconds, with_unit
from placewright.solver.wording import are, plural


@pytest.mark.parametrize(("nanoseconds", "words"), [(SECOND, "1 second"), (SECOND // 2, "0.5 seconds"), (11 * SECOND, "11 seconds")])
def test_one_second_is_one(nanoseconds: int, words: str) -> None:
    assert with_unit(in_seconds(nanoseconds)) == words


@pytest.mark.parametrize(("count", "words"), [(1, "1 process is"), (2, "2 processes are"), (0, "0 processes are")])
def test_verbs_go_with_their_numbers(count: int, words: str) -> None:
    assert f"{count} {plural('process', count)} {are(count)}" == words
