"""A list of counts: a component has one of these, in every way to search, and what nothing fits is told by them."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import Component
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit
from placewright.solver.searching.search import solve

from . import parity
from .brute_force import TooMany
from .cases import cluster, component, given, problem, share
from .few_ranks import EIGHT, TWO_NODES, ranks
from .parity_cases.random_problems import random_problem
from .random_whole import Drawn
from .whole_model import by_the_solver_alone, judge


def listed(name: str, *counts: int, **more: Any) -> Component:
    """A component that asks for one of these."""
    return replace(component(name, min(counts), max(counts), **more), counts=tuple((count, count) for count in sorted(counts)))


def with_lists(asked: Problem, random: Random) -> Problem:
    """The same in which those with a range ask for some of it alone."""
    parts = []
    for each in asked.components:
        if each.runs is None and each.least < each.most:
            may = range(each.least, min(each.most, each.least + 12) + 1)
            some = sorted(random.sample(may, random.randint(1, len(may) // 2 + 1)))
            each = replace(each, least=some[0], most=some[-1], counts=tuple((count, count) for count in some))
        parts.append(each)
    return replace(asked, job=replace(asked.job, components=tuple(parts)))


def test_both_faces_accept_the_same() -> None:
    random = Random(5)
    refused = sum(parity.compare(with_lists(random_problem(random), random))["PW209 alone"] for _ in range(6))
    assert refused, "no count between those of a list was ever tried"


@pytest.mark.parametrize("alone", [False, True])
def test_as_good_as_all_that_can_be_placed(alone: bool) -> None:
    random, judged = Random(f"lists {alone}"), 0
    while judged < 12:
        asked = with_lists(Drawn(random, "amounts").problem(), random)
        if not any(each.counts for each in asked.components):
            continue
        try:
            if alone:
                with by_the_solver_alone():
                    judge(asked, 800)
            else:
                judge(asked, 800)
            judged += 1
        except TooMany:
            pass


@pytest.mark.parametrize(
    ("parts", "more", "told"),
    [
        ((listed("a", 12, 20),), {}, ""),
        ((listed("a", 6, 12), listed("b", 4, 8)), {"together": "a+b"}, "a 6 or 12 and b 4 or 8: no count is one of all of them"),
        ((listed("a", 2, 6, tp=4),), {}, "a 2 or 6, in multiples of 4: none of these is one"),
        ((listed("a", 3, 5),), {"dealt": (share("a", 64),)}, "a: with 3 or 5 accelerators 64 environments cannot be dealt out evenly"),
        ((listed("a", 3, 5), ranks("b", 0, 3)), {"together": "a+b"}, "b is given 4, 3 or 5 are asked for"),
        ((listed("a", 9, 16), listed("b", 8, 9)), {"apart": "a+b"}, "need 17 accelerators, the cluster has 16"),
    ],
)
def test_why_none_of_them_can_be(parts: tuple[Component, ...], more: dict[str, Any], told: str) -> None:
    answer = solve(problem(TWO_NODES, *parts, **more))
    assert (answer.verdict == IMPOSSIBLE) is bool(told)
    assert not told or told in answer.findings[0].message


def test_given_ranks_are_held_to_them() -> None:
    asked = replace(ranks("a", 0, 4), least=3, most=7, counts=((3, 3), (7, 7)))
    (finding,) = check_explicit(problem(EIGHT, asked))
    assert finding.code == "PW209"
    assert (finding.message, finding.help) == ("a asks for 3 or 7 accelerators, 5 are placed", "place 7, or ask for 5")
    assert not check_explicit(problem(EIGHT, replace(asked, counts=((3, 5), (7, 7)))))


def test_what_is_left_over_is_filled_up_to_one_of_them() -> None:
    """Beside given ranks, contiguous, and around them."""
    held = given("g", *ranks("g", 0, 4).runs or ())
    for more in ({}, {"contiguous": True}):
        plan = solve(problem(cluster({"count": 8}), held, listed("a", 1, 2, 6, **more))).plan
        assert plan is not None and plan.assignment.world_size("a") == 2
