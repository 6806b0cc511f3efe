"""Rank expressions: what they name, what is refused, and at which characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from placewright.models.ranks import RankError, merge, parse_ranks, parse_segments, write_ranks


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("0", [0]),
        ("0-3", [0, 1, 2, 3]),
        (" 0 - 3 , 7", [0, 1, 2, 3, 7]),
        ("2,0-1", [0, 1, 2]),
        ("0,0-1,1", [0, 1]),
        ("+1,0_7,00", [0, 1, 7]),
        ("", []),
        (",,", []),
        ("all", list(range(8))),
        (" ALL ", list(range(8))),
    ],
)
def test_what_an_expression_names(text: str, ranks: list[int]) -> None:
    found = parse_ranks(text, 8, "node")
    assert list(found) == ranks
    assert len(found) == len(ranks)


@pytest.mark.parametrize(
    ("text", "reason", "characters", "replacement"),
    [
        ("0-8", "range", "0-8", "0-7"),
        ("7-9", "range", "7-9", "7"),
        ("3, 9", "range", "9", None),
        ("3-1", "order", "3-1", "1-3"),
        ("0-1-2", "form", "0-1-2", None),
        ("-1", "form", "-1", None),
        ("a", "form", "a", None),
        ("1.5", "form", "1.5", None),
        ("0,all", "form", "all", None),
        ("\u0661", "form", "\u0661", None),
        ("1" * 30, "form", "1" * 30, None),
    ],
)
def test_what_is_refused_and_where(text: str, reason: str, characters: str, replacement: str | None) -> None:
    with pytest.raises(RankError) as caught:
        parse_ranks(text, 8, "node")
    problem = caught.value
    assert (problem.reason, text[problem.start : problem.end], problem.replacement) == (reason, characters, replacement)


def test_nothing_exists_nothing_can_be_asked_for() -> None:
    with pytest.raises(RankError, match="there is no robot"):
        parse_ranks("0", 0, "robot")
    assert list(parse_ranks("all", 0, "robot")) == []


def test_all_needs_a_list_to_take_all_of() -> None:
    with pytest.raises(RankError, match="`all` is not allowed here"):
        parse_ranks("all", None, "process")


def test_a_giant_range_costs_nothing() -> None:
    assert len(parse_ranks("0-999999999999", None, "process")) == 10**12
    with pytest.raises(RankError, match="longer than"):
        parse_ranks("0," * 50_000, None, "process")


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 20)), max_size=8))
def test_writing_and_reading_are_inverse(pairs: list[tuple[int, int]]) -> None:
    ranges = merge([range(first, first + size) for first, size in pairs])
    assert parse_ranks(write_ranks(ranges), None, "rank").ranges == ranges
    assert sorted({rank for first, size in pairs for rank in range(first, first + size)}) == [rank for each in ranges for rank in each]
    assert all(before.stop < after.start for before, after in zip(ranges, ranges[1:]))


@given(st.text(alphabet="0123456789-:, al", max_size=24))
def test_any_text_gives_ranks_or_a_rank_error(text: str) -> None:
    try:
        for segment in parse_segments(text, 16, "accelerator"):
            assert 0 <= segment.resources.first <= segment.resources.last < 16
            assert text[segment.start : segment.end].strip() == text[segment.start : segment.end]
    except RankError as problem:
        assert 0 <= problem.start <= problem.end <= len(text)
        assert str(problem)


def test_segments_know_their_place() -> None:
    segments = parse_segments("0-1:0-3, 3-5 ,7-10:7-14", 16, "accelerator")
    assert [(str(each.resources), str(each.processes)) for each in segments] == [("0-1", "0-3"), ("3-5", "None"), ("7-10", "7-14")]
    assert [(each.start, each.end) for each in segments] == [(0, 7), (9, 12), (14, 23)]


@pytest.mark.parametrize(("text", "reason"), [("0:0:0", "form"), (":0-3", "empty"), ("0-3:", "empty"), ("0-3:all", "form")])
def test_segments_that_are_refused(text: str, reason: str) -> None:
    with pytest.raises(RankError) as caught:
        parse_segments(text, 16, "accelerator")
    assert caught.value.reason == reason
