"""What may keep to a time is listed: a search among that finds what a search of everything does, also where a component takes other times."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Iterator

import pytest
from placewright.models.planning.question import Question
from placewright.models.planning.workload import SECONDS
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.candidates.listing import can_list, expected, listing
from placewright.solver.planning.searching.cuts.remembered import Recalled
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.structures.every import structures

from ...after.designs import in_microseconds
from ...questions import question
from ...test_very_many import job


def keeping_to(asked: Question, nanoseconds: int) -> Question:
    return replace(asked, budget=replace(asked.budget, nanoseconds=nanoseconds))


def longer(asked: Question, component: str, percent: int) -> Question:
    options = tuple(
        replace(each, nanoseconds=tuple(time * percent // 100 // asked.batches * asked.batches for time in each.nanoseconds))
        for each in asked.options[component]
    )
    return replace(asked, options={**asked.options, component: options})


def each_listable(seeds: range) -> Iterator[tuple[Question, int]]:
    """Random small questions of which cuts are known, each with the ns of its best design."""
    model = cost_model("stream")
    for seed in seeds:
        asked = replace(in_microseconds(question(seed, False)), nested=False, aim=SECONDS)
        if can_list(asked, model) and (best := search(asked, model).best) is not None:
            yield asked, best.price[0]


def test_every_structure_that_keeps_to_a_time_is_listed() -> None:
    """Each of all structures by itself: what keeps to the time is there, or what runs together and takes no longer."""
    model, kept, left_out = cost_model("stream"), 0, 0
    for asked, best in each_listable(range(60)):
        for percent in (100, 103, 115, 150):
            there = keeping_to(asked, best * percent // 100)
            floors = listing(there, model, 10.0, Recalled(there)).floors
            assert floors is not None
            for structure in structures(there, model):
                alone = search(there, model, among=[structure])
                if alone.best is not None:
                    kept += 1
                    assert structure in floors and floors[structure] <= alone.best.price[0]
                else:
                    left_out += structure not in floors
    assert kept > 200 and left_out > 200


def test_a_search_among_what_is_listed_finds_the_best_with_longer_times_too() -> None:
    model, found, none, random = cost_model("stream"), 0, 0, Random(1)
    for asked, best in each_listable(range(80)):
        its = keeping_to(asked, best * random.randint(100, 140) // 100)
        floors = listing(its, model, 10.0, Recalled(its)).floors
        assert floors is not None
        for component in asked.components:
            there = longer(its, component, random.randint(100, 200))
            every, some = search(there, model), search(there, model, among=list(floors))
            assert some.proved and [each.price for each in some.found] == [each.price for each in every.found]
            any_ = search(there, model, among=list(floors), any_will_do=True)
            assert (any_.best is None) == (every.best is None)
            for without in any_.without:
                assert search(there, model, among=[without]).best is None
            found, none = found + (every.best is not None), none + (every.best is None)
    assert found > 20 and none > 20


def test_of_very_many_structures_those_that_may_be_better_are_few() -> None:
    asked, model = job(8, 64, 1, chain=True), cost_model("stream")
    best = search(asked, model).best
    assert best is not None
    there = keeping_to(asked, best.price[0] * 102 // 100)
    listed = listing(there, model, 5.0, Recalled(there))
    assert listed.floors is not None and best.structure in listed.floors and len(listed.floors) < 100
    assert listing(there, model, 5.0, Recalled(there)) == listed


@pytest.mark.parametrize("limit", [0.0, 0.001, 0.05])
def test_what_could_not_be_listed_whole_is_not_listed(limit: float) -> None:
    asked, model = job(8, 64, 1, chain=True), cost_model("stream")
    best = search(asked, model).best
    assert best is not None
    there = keeping_to(asked, best.price[0] * 110 // 100)
    listed = listing(there, model, limit, Recalled(there))
    assert listed.floors is None and listed.spent < limit + 0.05
    takes, spent = expected(there, model, limit, Recalled(there))
    assert (takes is None or takes > limit) and spent < limit + 0.05


def test_of_nested_questions_and_of_fewest_accelerators_nothing_is_listed() -> None:
    asked, model = job(8, 64, 1, chain=True), cost_model("stream")
    assert can_list(asked, model) and not can_list(replace(asked, nested=True), model)
    there = keeping_to(replace(asked, nested=True), 10**12)
    assert listing(there, model, 1.0, Recalled(there)).floors is None
    assert listing(asked, model, 1.0, Recalled(asked)).floors is None  # what takes any time is not few
