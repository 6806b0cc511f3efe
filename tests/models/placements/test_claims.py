"""Ranks are taken once: what was taken before is told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from placewright.models.placements.run_checks import Claims
from placewright.models.ranks import merge, without

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)).map(lambda pair: range(pair[0], sum(pair))), max_size=12)


def ranks_of(ranges: tuple[range, ...]) -> list[int]:
    return [rank for each in ranges for rank in each]


@given(RANGES)
def test_what_was_claimed_before_is_told_in_order(ranges: list[range]) -> None:
    claims, taken = Claims(), set[int]()
    for each in ranges:
        assert ranks_of(claims.claim(each)) == sorted(taken.intersection(each))
        taken.update(each)


def test_nothing_is_claimed_by_no_ranks() -> None:
    claims = Claims()
    assert claims.claim(range(0)) == ()
    assert claims.claim(range(3)) == ()
    assert claims.claim(range(2, 5)) == (range(2, 3),)


@given(RANGES, RANGES)
def test_what_is_left_of_ranges_without_others(ranges: list[range], others: list[range]) -> None:
    left = without(merge(ranges), merge(others))
    assert ranks_of(left) == sorted({r for each in ranges for r in each} - {r for each in others for r in each})
    assert all(left)
