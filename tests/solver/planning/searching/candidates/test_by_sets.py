"""Few components wait for each other: very many cuts of the iteration can be among the best, and few arrangements."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.planning.question import Edge, Question
from placewright.models.planning.workload import Budget
from placewright.solver.planning.check import faults, price
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching import search as searching
from placewright.solver.planning.searching.candidates.pruning import Pruning
from placewright.solver.planning.searching.search import search

from ...questions import question
from ...test_very_many import job
from ...tried import priced


def few_wait(seed: int, edges: tuple[Edge, ...]) -> Question:
    return replace(job(9, 8, seed), edges=edges)


PAIRS = tuple(Edge(place, place + 1) for place in range(0, 8, 2))
THREE = tuple(Edge(place, place + 1, whole=True) for place in range(3))


@pytest.mark.parametrize(("seed", "edges"), [(2, PAIRS), (2, THREE)])
def test_nine_are_proved(seed: int, edges: tuple[Edge, ...]) -> None:
    asked, model = few_wait(seed, edges), cost_model("stream")
    searched = search(asked, model, count=4)
    assert searched.first_proved and searched.best is not None and searched.bound == searched.best.price[0]
    assert not list(faults(asked, model, searched.best.design))


@pytest.mark.parametrize("edges", [PAIRS, tuple(Edge(place, place + 1) for place in range(8))])
def test_that_nothing_keeps_to_a_budget_is_known_without_what_is_beyond_it(edges: tuple[Edge, ...]) -> None:
    """What is asked where a plan flips: is there anything that is better by a twentieth?"""
    asked, model = few_wait(1, edges), cost_model("stream")
    best = search(asked, model).best
    assert best is not None
    below = replace(asked, budget=Budget(nanoseconds=best.price[0] * 100 // 105))
    searched = search(below, model, limit=2, any_will_do=True)
    assert searched.first_proved and searched.best is None and searched.bound is None
    kept = search(replace(asked, budget=Budget(nanoseconds=best.price[0])), model, any_will_do=True)
    assert kept.best is not None and kept.best.price[0] == best.price[0]


def test_the_best_of_everything_is_found_by_arrangements(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few cuts there are."""
    monkeypatch.setattr(searching, "MOST", 0)
    monkeypatch.setattr(Pruning, "_are_few", lambda pruning, cuts: True)
    monkeypatch.setattr("placewright.solver.planning.searching.candidates.pruning.MANY", 0)
    model = cost_model("stream")
    for seed in range(60):
        asked = question(seed, False)
        if seed % 2:
            asked = replace(asked, nested=False, within=frozenset())
        best = min((its for its, _ in priced(asked, False)), default=None)
        for count in (1, 3):
            searched = search(asked, model, count=count)
            assert searched.bound == (best and best[0]) and (searched.best and searched.best.price) == best, seed
            assert searched.first_proved, seed
            for each in searched.found:
                assert list(faults(asked, model, each.design)) == [], seed
                assert each.price == price(asked, model, each.design), seed


@pytest.mark.parametrize(("name", "seed"), [("stream", 3), ("stream", 4), ("stages", 1), ("stages", 2)])
def test_six_inside_each_other_are_proved(name: str, seed: int) -> None:
    """Of all ways to lie inside each other hardly any is looked at, and of each it is looked at once what can be had."""
    asked, model = replace(six_wide(seed), nested=True), cost_model(name)
    searched = search(asked, model, limit=2.0, settle=lambda unsettled: iter(()))
    assert searched.best is not None and searched.first_proved and searched.best.price[0] == searched.bound
    assert not list(faults(asked, model, searched.best.design))


def six_wide(seed: int) -> Question:
    return replace(
        job(6, 8, seed), edges=tuple(Edge(0, place) for place in range(1, 5)) + tuple(Edge(place, 5, whole=True) for place in range(1, 5))
    )
