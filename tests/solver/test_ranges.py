"""Contiguous components: where one begins and where it ends may be decisions of their own, and nothing else changes."""

from __future__ import annotations

import random
from typing import Iterator

import pytest
from placewright.models.problem import Problem
from placewright.solver.layout import ranges as places
from placewright.solver.layout.layout import Layout

from . import parity
from .cases import cluster, component, problem
from .parity_cases.every import CASES
from .parity_cases.random_problems import random_problem

TWO_ENDS = {
    "unaligned": problem(cluster({"count": 3}, {"count": 3}), component("a", 2, 5, contiguous=True), component("b", 1)),
    "aligned": problem(cluster({"count": 4}, {"count": 2}), component("a", 2, 6, tp=2, contiguous=True), component("b", 1)),
    "nodes that are not a multiple": problem(
        cluster({"count": 2}, {"count": 3}, {"count": 2}), component("a", 2, 6, tp=2, contiguous=True), component("b", 1)
    ),
    "beside what is taken": problem(
        cluster({"count": 4, "taken": 0b0010}, {"count": 4, "taken": 0b1000, "rack": "a"}), component("a", 1, 5, contiguous=True)
    ),
    "two of them": problem(
        cluster({"count": 2, "rack": "a"}, {"count": 3, "rack": "b"}),
        component("a", 1, 2, contiguous=True),
        component("b", 2, 4, tp=2, contiguous=True),
    ),
    "in order": problem(
        cluster({"count": 2}, {"count": 3}),
        component("a", 2, 4, tp=2, contiguous=True),
        component("b", 1, 3, contiguous=True),
        in_sequence="b a",
    ),
}


def decided_apart(question: Problem) -> bool:
    """Does every searched range with several lengths have its beginning and its end as decisions of their own?"""
    layout = Layout(question)
    ranged = [bundle for bundle in layout.ranged if len(places.all_lengths(layout, bundle)) > 1]
    return bool(ranged) and all(places.has_separate_ends(layout, bundle) for bundle in ranged)


def questions() -> Iterator[Problem]:
    """Cases of parity, and random ones, of which some have ranges with several lengths."""
    yield from (question for question in CASES.values() if parity.space(question) <= 2_500)
    source = random.Random(21)
    yield from (random_problem(source, most=1_000) for _ in range(10))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of places is too many."""
    monkeypatch.setattr(places, "MAX_PLACES", 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWO_ENDS)
def test_places_are_the_same_whether_both_ends_are_one_decision_or_two(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parity.compare(TWO_ENDS[name])
    monkeypatch.setattr(places, "MAX_PLACES", 0)
    assert decided_apart(TWO_ENDS[name])
    parity.compare(TWO_ENDS[name])


@pytest.mark.slow
def test_both_faces_agree_where_both_ends_are_decisions(many: None) -> None:
    compared = [parity.compare(question) for question in questions() if decided_apart(question)]
    assert len(compared) > 10
