"""What an iteration takes at least however it is cut: never more than any design, and a search that heeds it finds the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.kind import Kind
from placewright.models.planning.option import Option
from placewright.models.planning.question import Question, Task
from placewright.models.planning.workload import SECONDS, Budget
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.costs.cost_model import iteration
from placewright.solver.planning.searching import search as searching
from placewright.solver.planning.searching.candidates import looking
from placewright.solver.planning.searching.cuts.every import MOST, EveryCut

from ...questions import question

MODELS = "stream", "rlinf", "rlinf-embodied"
SEEDS = 100
EVERY = 40
"""Structures of one question whose best designs are compared."""


def asked_for(seed: int) -> Question:
    its = question(seed, False)
    return replace(its, aim=SECONDS, budget=Budget(its.budget.accelerators))


@pytest.mark.parametrize("name", MODELS)
def test_no_design_of_any_structure_takes_less(name: str) -> None:
    met = compared = 0
    model = cost_model(name)
    for seed in range(SEEDS):
        asked = asked_for(seed)
        found = searching.search(asked, model, count=EVERY).found
        if not found or not EveryCut.bound(asked, model):
            continue
        cuts = EveryCut(asked, model, lambda seconds: True)
        least = cuts.least()
        for each in found:
            takes = iteration(model, asked, each.design)
            assert least <= cuts.of(each.design.segments) <= takes, seed
            compared += 1
        met += least == found[0].price[0]
    assert compared > 50 and met > SEEDS // 20  # it says something, too


@pytest.mark.parametrize("name", MODELS)
def test_a_search_that_heeds_it_finds_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, none = cost_model(name), 0
    for seed in range(SEEDS):
        asked = asked_for(seed)
        plain = searching.search(asked, model, count=3)
        with monkeypatch.context() as patched:
            patched.setattr(searching, "MANY", 0)
            patched.setattr(looking, "MANY", 0)
            heeding = searching.search(asked, model, count=3)
            assert [each.price for each in heeding.found] == [each.price for each in plain.found], seed
            assert (heeding.bound, heeding.proved) == (plain.bound, plain.proved), seed
            if plain.best is None:
                continue
            just = replace(asked, budget=replace(asked.budget, nanoseconds=plain.best.price[0]))
            its = searching.search(just, model).best
            assert its is not None and its.price[0] == plain.best.price[0], seed
            less = replace(asked, budget=replace(asked.budget, nanoseconds=plain.best.price[0] - 1))
            beaten = searching.search(less, model)
            assert beaten.best is None and beaten.proved, seed
            none += 1
    assert none > SEEDS // 10


def test_of_very_many_cuts_it_takes_a_small_part_of_the_time() -> None:
    names = "abcdefghi"
    options = {
        name: tuple(Option(0, count, Parallel(), ((1000 + 130 * place) // count + 50 * place,)) for count in (1, 2, 4, 8))
        for place, name in enumerate(names)
    }
    asked, spent = Question((Kind("H100", 8),), tuple(map(Task, names)), options), list[float]()

    def spend(seconds: float) -> bool:
        spent.append(seconds)
        return True

    least = EveryCut(asked, cost_model("stream"), spend).least()
    assert 0 < least <= sum(min(its)[0] for its in ([option.nanoseconds for option in each] for each in options.values()))
    assert sum(spent) < 2 * MOST
