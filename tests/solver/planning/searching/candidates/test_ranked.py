"""What an arrangement takes before it is cut: never more than any cut of it, and no less where a cut could take as little."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

import pytest
from placewright.models.planning.question import Question
from placewright.solver.planning.asking.asked import asked
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.candidates.ranked import Ranked
from placewright.solver.planning.searching.candidates.uncut import Uncut
from placewright.solver.planning.searching.price import Price
from placewright.solver.planning.searching.sizes.branching import Branching
from placewright.solver.planning.searching.sizes.choices import Choices
from placewright.solver.planning.searching.sizes.sizing import Greatest, Sizing
from placewright.solver.planning.searching.structures.every import Arrangement, arrangements

from ...questions import question
from ..crossing.questions import drawn

MODEL = cost_model("stream")
MANY = 1 << 30
SEEDS = range(250)


def least(sizing: Sizing) -> Price | None:
    """What it costs at least."""
    branching = Branching(sizing)
    branching.search(None, MANY)
    return branching.floor


def of_every_cut(its: Question, ways: Choices, arrangement: Arrangement) -> Price | None:
    """What the cheapest structure of an arrangement costs."""
    each = (least(Sizing(its, MODEL, structure, ways)) for structure in arrangement.structures())
    return min((price for price in each if price is not None), default=None)


def compared(ask: Callable[[int], Question], seeds: range) -> list[tuple[Price | None, Price | None]]:
    """Of each arrangement what any cut costs, and what its best one does."""
    found = []
    for seed in seeds:
        its = ask(seed)
        ways = Choices(its, MODEL.divisor(its))
        for each in arrangements(its, MODEL):
            found.append((least(Ranked(its, MODEL, each.one_by_one, ways)), of_every_cut(its, ways, each)))
    return found


def is_bound(any_of_them: Price | None, best: Price | None) -> bool:
    return best is None or (any_of_them is not None and any_of_them <= best)


def unrelated(seed: int) -> Question:
    """Nothing waits for anything, and nothing lies inside anything else or takes turns with it."""
    its = crossed(seed) if seed % 3 == 0 else question(seed, False)
    return replace(its, edges=(), rounds=(), within=frozenset(), one_at_a_time=frozenset(), nested=False)


def crossed(seed: int) -> Question:
    """Traffic counts as time."""
    return asked(*drawn(seed))


@pytest.mark.parametrize("ask", [lambda seed: question(seed, False), crossed], ids=["all sorts", "with traffic"])
def test_no_cut_costs_less(ask: Callable[[int], Question]) -> None:
    found = compared(ask, SEEDS)
    assert all(is_bound(*each) for each in found)
    assert sum(best is not None and best[0] > 0 for _, best in found) > 500


def test_where_nothing_is_related_a_cut_costs_no_more() -> None:
    found = compared(unrelated, SEEDS)
    assert all(one == other for one, other in found)
    assert sum(one is not None for one, _ in found) > 300


def test_what_is_said_of_an_arrangement_is_no_more_however_far_it_was_looked_at() -> None:
    """With any bar: as much as the bar where nothing costs less, and never known to be impossible where it is not."""
    for seed in range(80):
        its = question(seed, False)
        ways = Choices(its, MODEL.divisor(its))
        for number, each in enumerate(arrangements(its, MODEL)):
            best = of_every_cut(its, ways, each)
            for parts in (0, 3, MANY):
                for below in (None, best, (best[0] // 2, 0) if best else None):
                    one = Uncut(number, each, Ranked(its, MODEL, each.one_by_one, ways), (0, 0))
                    one.look(below, parts)
                    assert best is None or (one.possible and one.floor <= best), seed


def too_much(found: tuple[Greatest, ...]) -> tuple[Greatest, ...]:
    return tuple(Greatest(each.weight + 1, each.sums) for each in found)


def the_longest_alone(found: tuple[Greatest, ...]) -> tuple[Greatest, ...]:
    return found[:1]


@pytest.mark.parametrize("lie", [too_much, the_longest_alone])
def test_lies_are_caught(lie: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Ranked.greatest.func  # type: ignore[attr-defined]
    monkeypatch.setattr(Ranked, "greatest", property(lambda self: lie(right(self))))
    assert any(one != other for one, other in compared(unrelated, range(60)))


def test_tasks_that_are_not_by_their_size_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ranked, "choices", Sizing.choices)
    assert not all(is_bound(*each) for each in compared(unrelated, range(60)))
