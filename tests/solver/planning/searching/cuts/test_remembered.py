"""What is remembered from search to search is true of the next one too, in which a component takes other times."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Callable

import pytest
from placewright.models.planning.question import Question
from placewright.models.planning.workload import SECONDS
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching import search as searching
from placewright.solver.planning.searching.cuts.every import EveryCut
from placewright.solver.planning.searching.cuts.remembered import Alone, Recalled, Remembered
from placewright.solver.planning.searching.search import search

from ...after.designs import each_planned, scaled


def test_a_search_that_remembers_others_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others had other times, and asked for less or more; all of them pass over arrangements where there are only a few."""
    monkeypatch.setattr(searching, "MOST", 2)
    model, random, found = cost_model("stream"), Random(5), 0
    for planned in each_planned("stream", range(30)):
        question = replace(planned.question, aim=SECONDS, budget=replace(planned.question.budget, nanoseconds=None))
        remembered = Remembered()
        for _ in range(6):
            component, percent = random.choice(question.components), random.choice((50, 80, 100, 130, 200))
            asked = scaled(question, component, percent)
            alone = search(asked, model)
            assert alone.best is not None
            assert alone.proved
            for share in (100, 99, 120):
                most = alone.best.price[0] * share // 100
                limited = replace(asked, budget=replace(asked.budget, nanoseconds=most))
                again = search(limited, model, recalled=Recalled(limited, remembered, component, percent))
                assert again.proved
                assert (again.best is None) == (share < 100), (component, percent, share)
                if again.best is not None:
                    assert again.best.price == alone.best.price
                    found += 1
    assert found > 200


def test_any_cut_takes_the_same_whatever_is_remembered() -> None:
    model, more = cost_model("stream"), 0
    for planned in each_planned("stream", range(40)):
        remembered = Remembered()
        for component in planned.question.components:
            for percent in (100, 130, 60, 130):
                asked = scaled(planned.question, component, percent)
                if EveryCut.bound(asked, model):
                    spent = [0.0, 0.0]
                    least = EveryCut(asked, model, _counted(spent, 0)).least()
                    assert EveryCut(asked, model, _counted(spent, 1), Recalled(asked, remembered, component, percent)).least() == least
                    more += spent[1] < spent[0]
    assert more > 20


def _counted(spent: list[float], place: int) -> Callable[[float], bool]:
    def spend(seconds: float) -> bool:
        spent[place] += seconds
        return True

    return spend


def test_what_a_part_takes_is_known_up_to_what_was_looked_for(one_task: Question) -> None:
    remembered = Remembered()
    few, many = (replace(one_task, budget=replace(one_task.budget, nanoseconds=most)) for most in (50, 80))
    Recalled(few, remembered).tell(1, Alone(1_000, 2))
    assert Recalled(few, remembered).alone(1) == Alone(51, 2, None, 50)
    assert Recalled(many, remembered).alone(1) == Alone(51, 0, None, 50)
    Recalled(many, remembered).tell(1, Alone(60, 2))
    assert Recalled(one_task, remembered).alone(1) == Alone(60, 2, None, 80)


def test_parts_with_the_component_are_known_of_the_same_times_alone(one_task: Question) -> None:
    remembered, name = Remembered(), one_task.tasks[0].component
    Recalled(one_task, remembered, name, 120).tell(1, Alone(60, 2))
    assert Recalled(one_task, remembered, name, 121).alone(1) is None
    assert Recalled(one_task, remembered, name, 120).alone(1) is not None
    Recalled(one_task, remembered, name, 120).tell(2, Alone(60, 2))
    assert Recalled(one_task, remembered).alone(2) is not None


@pytest.fixture
def one_task() -> Question:
    """A question with one task."""
    asked = next(iter(each_planned("stream", range(1)))).question
    return replace(asked, tasks=asked.tasks[:1], edges=())
