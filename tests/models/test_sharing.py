"""A part of a problem keeps what follows between its components from those that are left out."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from placewright.models.component import COLOCATED, SUBSET
from placewright.models.problem import Problem
from placewright.models.sharing import find_around, restrict

from ..solver.cases import cluster, component, problem

ROOM = cluster({"count": 8}, {"count": 8})


def related(asked_for: Problem) -> set[tuple[str, str]]:
    """Pairs of which the first uses no accelerator that the second does not use, directly or not."""
    sets = asked_for.colocated_sets
    outer = find_around(asked_for, sets)
    found = set()
    for members in sets:
        for its in (members, *outer[members[0].name]):
            found |= {(one.name, other.name) for one in members for other in its if one is not other}
    return found


def said(asked_for: Problem) -> set[tuple[str, tuple[str, ...]]]:
    return {(each.kind, each.components) for each in asked_for.job.relations}


@pytest.mark.parametrize(
    ("relations", "kept", "left"),
    [
        ({"within": "a+b b+c"}, "ac", {(SUBSET, ("a", "c"))}),
        ({"within": "a+b", "together": "b+c"}, "ac", {(SUBSET, ("a", "c"))}),
        ({"within": "b+c", "together": "a+b"}, "ac", {(SUBSET, ("a", "c"))}),
        ({"within": "a+b b+c c+d"}, "ad", {(SUBSET, ("a", "d"))}),
        ({"together": "a+b b+c"}, "ac", {(COLOCATED, ("a", "c"))}),
        ({"aligned": "a+b", "in_place": "b+c"}, "ac", {(COLOCATED, ("a", "c"))}),
        ({"within": "a+b c+b"}, "ac", set()),
        ({"within": "b+a b+c"}, "ac", set()),
        ({"within": "a+b b+c a+c"}, "ac", {(SUBSET, ("a", "c"))}),
        ({"within": "a+b", "apart": "c+d"}, "acd", {("disjoint", ("c", "d"))}),
    ],
)
def test_a_part_keeps_what_follows_through_others(relations: dict[str, str], kept: str, left: set[tuple[str, tuple[str, ...]]]) -> None:
    whole = problem(ROOM, *(component(name, 1, 8) for name in "abcd"), **relations)
    part = restrict(whole, set(kept))
    assert "".join(each.name for each in part.components) == kept
    assert said(part) == left


def test_it_says_whose_place_it_follows_from() -> None:
    whole = problem(ROOM, *(component(name, 1, 8) for name in "abcd"), within="a+b b+c c+d")
    assert [each.reason for each in restrict(whole, {"a", "d"}).job.relations] == ["the place of b and c"]


def test_nothing_else_follows() -> None:
    """Of random relations, those of a part are those of the whole between its components."""
    more = 0
    for seed in range(600):
        random = Random(f"among {seed}")
        names = "abcdef"[: random.randint(3, 6)]
        pairs = [its for its in permutations(names, 2) if random.random() < 0.25]
        random.shuffle(pairs)
        cut = random.randint(0, len(pairs))
        words = {"within": pairs[:cut], "together": pairs[cut : cut + 1], "aligned": pairs[cut + 1 : cut + 2]}
        whole = problem(
            ROOM, *(component(name, 1, 8) for name in names), **{word: " ".join(map("+".join, its)) for word, its in words.items()}
        )
        kept = {name for name in names if random.random() < 0.6}
        part = restrict(whole, kept)
        assert related(part) == {pair for pair in related(whole) if kept.issuperset(pair)}, seed
        more += len(said(part) - said(whole))
    assert more > 50
