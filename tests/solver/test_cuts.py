"""A cut that calls itself implied removes no value; one that is too tight is noticed."""

from __future__ import annotations

import random

import pytest
from placewright.models.component import REPLICA, Keep
from placewright.models.problem import Problem
from placewright.solver import cuts
from placewright.solver.cuts import CUTS, Cut, DomainsOfSubsets, RoomBySize, size_rows, subset_rows
from placewright.solver.layout.layout import Layout
from placewright.solver.rules import RULES

from . import parity
from .cases import cluster, component, problem
from .parity_cases.every import CASES
from .parity_cases.random_problems import random_problem

RACKS = problem(
    cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}, {"count": 1, "rack": "c"}),
    component("a", 2),
    component("b", 2),
    component("c", 1),
)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [cut for cut in CUTS if cut.implied], ids=lambda cut: type(cut).__name__)
def test_an_implied_cut_removes_no_value(cut: Cut) -> None:
    source = random.Random(11)
    for whole in (RACKS, *CASES.values(), *(random_problem(source, most=400) for _ in range(30))):
        for question in whole.alternatives():
            assert parity.encoded(question, RULES, [cut]) == parity.encoded(question, RULES)


def test_what_must_be_in_several_racks() -> None:
    names = {("+".join(bundle.name for bundle in members), fewest) for members, fewest in subset_rows(Layout(RACKS), "rack")}
    assert names == {("a+b", 2), ("a+c", 2), ("b+c", 2), ("a+b+c", 3)}  # posted only where that is more than one each
    wide = problem(RACKS.cluster, component("a", 3), component("b", 2))
    assert {("+".join(bundle.name for bundle in members), fewest) for members, fewest in subset_rows(Layout(wide), "rack")} == {
        ("a", 2),
        ("a+b", 3),
    }


def test_a_cut_that_is_too_tight_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fewest = cuts.fewest_of
    monkeypatch.setattr(cuts, "fewest_of", lambda rooms, demand: fewest(rooms, demand) + 1)
    assert parity.encoded(RACKS, RULES, [DomainsOfSubsets()]) < parity.encoded(RACKS, RULES)


def in_fragments(source: random.Random) -> Problem:
    """Some of two racks is taken; pieces of three sizes are asked for, or replicas of two nodes of one rack and smaller pieces."""
    nodes = [{"count": 4, "rack": rack, "taken": (1 << source.randrange(4)) - 1} for rack in source.choice(["aab", "abb", "aaab"])]
    if source.random() < 0.5:
        large = component("large", 4, 8, tp=2, pp=2, keep=(Keep(REPLICA, "rack"),))
        return problem(cluster(*nodes), large, component("one", 1, 3))
    sizes = [component(name, tp, tp * most, tp=tp) for name, tp, most in (("four", 4, 1), ("two", 2, 2), ("one", 1, 3))]
    return problem(cluster(*nodes), *sizes)


def test_fragments_take_nothing_away_however_much_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "SCARCE", 0)
    source, posted = random.Random(5), 0
    for whole in [in_fragments(source) for _ in range(40)] + [random_problem(source, most=400) for _ in range(10)]:
        for question in whole.alternatives():
            posted += len(list(size_rows(Layout(question), "rack")))
            assert parity.encoded(question, RULES, [RoomBySize()]) == parity.encoded(question, RULES)
    assert posted > 100


def test_fragments_are_counted_where_the_room_for_large_pieces_is_scarce() -> None:
    racks = cluster({"count": 4, "rack": "a"}, {"count": 4, "rack": "a", "taken": 0b1}, {"count": 4, "rack": "b"})
    scarce = problem(racks, component("four", 4, tp=4), component("one", 4))
    told = [
        (name, [bundle.name for bundle in large], {each.name: more for each, more in small.items()}, room)
        for name, large, small, room in size_rows(Layout(scarce), "rack")
    ]
    assert told == [("a", ["four"], {"one": 3}, 4), ("b", ["four"], {"one": 0}, 4)]
    assert not list(size_rows(Layout(problem(racks, component("four", 4, tp=4), component("one", 2))), "rack"))


def test_fragments_that_are_too_small_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    racks = cluster({"count": 4, "rack": "a", "taken": 0b1}, {"count": 4, "rack": "b"})
    question = problem(racks, component("four", 4, tp=4), component("one", 3))
    room = cuts._room
    monkeypatch.setattr(cuts, "_room", lambda *arguments: max(0, room(*arguments) - 1))
    assert parity.encoded(question, RULES, [RoomBySize()]) < parity.encoded(question, RULES)
