"""Encode and check of every rule accept the same placements: exhaustively, on tiny problems, in both directions; and so does the search."""

from __future__ import annotations

import random
from collections import Counter
from typing import Callable

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.problem import Problem

from . import parity
from .parity_cases.around import random_around
from .parity_cases.constraints import CONSTRAINTS
from .parity_cases.every import CASES
from .parity_cases.random_problems import random_demands, random_keeps, random_problem
from .refuting.test_conflict import agrees
from .test_search import brute_force, is_answered

LARGE = {
    "within searched within searched, with memory", "two within searched within searched", "within searched within searched",
    "within searched within given, with memory", "within searched within searched, disjoint", "within searched within searched, of groups",
    "within given within searched", "within given around given", "within contiguous", "ranges, contiguous", "ranges, two of them colocated",
    "contiguous within counted", "contiguous within counted within contiguous", "contiguous within counted around given",
    "colocated or disjoint, within", "colocated or disjoint, given within", "in step, through another", "memory by its size",
    "preferred, colocated", "searched around given, both in searched", "around given on two nodes",
}  # fmt: skip
"""Cases of more than half a second, a third of the time of all, that no lie of test_lies.py needs."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in CASES])
def test_a_case_made_by_hand(name: str) -> None:
    """Both faces of every rule accept the same, `solve` finds the best of that, and what is impossible has the reasons that are told."""
    question, costs = CASES[name], list[int]()
    counts = parity.compare(question, costs)
    assert counts["assignments"] >= 1
    for need, code in ALONE.get(name, ()):
        assert counts[f"only {code} refused"], f"{need}: {code} refuses nothing by itself"
    alone = len(list(question.alternatives())) == 1
    answer = is_answered(question, min(costs, default=None) if alone else brute_force(question))
    if answer.verdict == IMPOSSIBLE and answer.how != "given" and "choices" not in name:
        agrees(question)


ALONE: dict[str, list[tuple[str, str]]] = {}
"""A case -> each constraint that it is there for, and the code of the rule that alone refuses something of it."""
for _need, _its in CONSTRAINTS.items():
    for _code, _cases in _its.items():
        for _case in _cases:
            ALONE.setdefault(_case, []).append((_need, _code))


Make = Callable[[random.Random], Problem]


def compare_random(count: int, seed: int, make: Make = random_problem) -> Counter[str]:
    """The theorems on `count` random problems."""
    source, counts = random.Random(seed), Counter[str]()
    for number in range(count):
        found = make(source)
        try:
            counts += parity.compare(found)
        except AssertionError as difference:
            raise AssertionError(f"problem {number} of seed {seed}: {found}\n{difference}") from None
        counts["problems"] += 1
    return counts


EXERCISED: dict[Make, tuple[int, int, int, tuple[str, ...]]] = {
    random_problem: (36, 150, 7, (
        "PW201", "PW202", "PW203", "PW204", "PW205", "PW206", "PW207", "PW208", "PW209", "PW211", "PW212", "PW213", "PW214",
        "PW301", "PW302", "PW401", "PW402", "PW404", "PW501", "PW502",
    )),
    random_demands: (20, 70, 28, ("PW303", "PW304", "PW305", "PW306", "PW307", "PW501", "PW502", "PW503")),
    random_keeps: (12, 80, 9, ("PW218",)),
    random_around: (40, 100, 7, ("PW201", "PW205", "PW207", "PW212", "PW501")),
}  # fmt: skip
"""Generator of random problems -> their number, their number with `--deep`, the seed, and the rules that the fewer exercise."""


@pytest.mark.parametrize("make", EXERCISED, ids=lambda make: make.__name__)
def test_random_problems_agree_and_exercise_the_rules(make: Make, record_property: pytest.RecordProperty) -> None:
    count, _, seed, codes = EXERCISED[make]
    counts = compare_random(count, seed, make)
    record_property("parity", dict(counts))
    for code in codes:
        assert counts[f"{code} {'refused' if code in parity.PACK else 'alone'}"], f"{code} never refused anything"


@pytest.mark.slow
@pytest.mark.parametrize("make", EXERCISED, ids=lambda make: make.__name__)
def test_many_random_problems_agree(make: Make) -> None:
    few, count, seed, _ = EXERCISED[make]
    assert compare_random(count - few, seed + 1, make)["problems"] == count - few
