"""What is known of sets is shared by searches that differ in the times of one component, and makes no other answer."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Iterable

import pytest
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.cuts.remembered import Recalled, Remembered
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.sizes import choices, known
from placewright.solver.planning.searching.sizes.choice import Amount, Choice
from placewright.solver.planning.searching.structures.structure import Structure

from ...after.designs import scaled
from ...questions import question


@pytest.mark.parametrize("most", [known.MOST, 5])
@pytest.mark.parametrize("nested", [False, True])
def test_each_search_says_the_same_in_the_same_time(nested: bool, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the deterministic second; with memory and rows, whether or not all of it may be kept."""
    monkeypatch.setattr(known, "MOST", most)
    model, random, found = cost_model("stream"), Random(3), 0
    for seed in range(25):
        asked, remembered = question(seed, nested), Remembered()
        for _ in range(5):
            component, percent = random.choice(asked.components), random.choice((50, 100, 130))
            its = scaled(asked, component, percent)
            recalled = Recalled(its, remembered, *((component, percent) if percent != 100 else ()))
            assert search(its, model, 3.0, recalled=recalled) == search(its, model, 3.0)
            found += 1
    assert found == 125


def test_sets_without_the_component_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: Counter[tuple[str, ...]] = Counter()
    once = choices.Choices.at

    def counted(self: choices.Choices, structure: Structure, number: int, amounts: Iterable[Amount], spare: int = 0) -> list[Choice]:
        listed[structure.sets[number]] += 1
        return once(self, structure, number, amounts, spare)

    asked, remembered, model = question(3, False), Remembered(), cost_model("stream")
    assert len(asked.components) > 1
    search(asked, model, recalled=Recalled(asked, remembered))
    monkeypatch.setattr(choices.Choices, "at", counted)
    component = asked.components[0]
    its = scaled(asked, component, 130)
    search(its, model, recalled=Recalled(its, remembered, component, 130))
    assert listed and all(component in each for each in listed)


def test_of_sets_with_the_component_nothing_is_shared() -> None:
    shared = known.Known()
    assert known.Sets(shared, "a").of((("a", "b"), (0, 0), 0)) is not shared
    assert known.Sets(shared, "a").of((("b", "c"), (0, 0), 0)) is shared
    assert known.Sets(shared).of((("a", "b"), (0, 0), 0)) is shared
