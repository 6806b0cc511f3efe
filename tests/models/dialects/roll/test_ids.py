"""Lists of ids are compared as progressions: the same as comparing the ids one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from placewright.models.dialects.roll.ids import Ids, common, differing, positions
from placewright.models.ranks import merge

PIECES = st.builds(
    lambda first, length, step: range(first, first + length * step, step),
    st.integers(0, 12), st.integers(1, 6), st.sampled_from([1, 1, -1, 2, 3, -2]),
)  # fmt: skip
LISTS = st.lists(PIECES, min_size=1, max_size=4).map(lambda pieces: Ids.join(*pieces))


@given(LISTS, LISTS, st.integers(-6, 6))
def test_two_lists_differ_where_their_ids_do(one: Ids, other: Ids, shift: int) -> None:
    mine, theirs = list(one), list(other)
    expected = [i for i, each in enumerate(mine) if 0 <= i + shift < len(theirs) and each != theirs[i + shift]]
    assert differing(one, other, shift) == expected


@given(LISTS, LISTS)
def test_common_ids_are_those_of_both(one: Ids, other: Ids) -> None:
    assert sorted(set(one) & set(other)) == [each for its in common(one, other) for each in its]


@given(LISTS, st.lists(st.tuples(st.integers(-3, 14), st.integers(1, 5)), max_size=3))
def test_positions_are_those_whose_ids_lie_in_the_ranges(ids: Ids, pairs: list[tuple[int, int]]) -> None:
    ranges = merge([range(start, start + length) for start, length in pairs])
    expected = [position for position, each in enumerate(ids) if any(each in its for its in ranges)]
    assert [each for its in positions(ids, ranges) for each in its] == expected
