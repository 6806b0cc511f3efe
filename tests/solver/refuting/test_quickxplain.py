"""The fewest that are impossible together, and the most that are possible: against every subset."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Sequence

from placewright.solver.refuting.conflict import maximal, quickxplain


def random_conflicts(source: random.Random, items: range) -> list[frozenset[int]]:
    """Some sets that cannot be had whole."""
    return [frozenset(source.sample(items, source.choice([1, 2, 2, 3, 4]))) for _ in range(source.choice([1, 2, 3]))]


def test_what_is_found_is_impossible_and_without_any_one_it_is_not() -> None:
    source = random.Random(7)
    for _ in range(300):
        items = range(source.choice([4, 7, 9]))
        conflicts = random_conflicts(source, items)

        def impossible(kept: Sequence[int], conflicts: list[frozenset[int]] = conflicts) -> bool:
            return any(conflict <= set(kept) for conflict in conflicts)

        found = quickxplain(items, impossible)
        assert impossible(found)
        assert not any(impossible(fewer) for fewer in combinations(found, len(found) - 1))


def test_earlier_ones_are_blamed_first() -> None:
    assert quickxplain("abcd", lambda kept: {"a", "b"} <= set(kept) or {"c", "d"} <= set(kept)) == ["a", "b"]
    assert quickxplain("dcba", lambda kept: {"a", "b"} <= set(kept) or {"c", "d"} <= set(kept)) == ["d", "c"]


def test_few_tests_find_few_of_many() -> None:
    asked = []

    def impossible(kept: Sequence[int]) -> bool:
        asked.append(tuple(kept))
        return {17, 401} <= set(kept)

    assert quickxplain(range(512), impossible) == [17, 401]
    assert len(asked) < 2 * 2 * 10


def test_where_nothing_at_all_is_impossible_nobody_is_to_blame() -> None:
    assert quickxplain("abc", lambda kept: True) == []


def test_an_answer_that_is_not_known_makes_the_result_larger_never_smaller() -> None:
    assert quickxplain("abc", lambda kept: len(kept) == 3) == ["a", "b", "c"]


def test_nothing_more_can_be_kept() -> None:
    assert maximal("abcd", lambda kept: not {"a", "c"} <= set(kept)) == ["a", "b", "d"]
    assert maximal("ab", lambda kept: False) == []
