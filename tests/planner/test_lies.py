"""A lie in any part of the search is caught by comparing it with everything tried: the proof that the comparison can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

import pytest
from placewright.models.planning.cost_models import Maximum, Stages, Stream
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.check import faults
from placewright.planner.costs import cost_model
from placewright.planner.search import branching, sizing
from placewright.planner.search import choices as joining
from placewright.planner.search import search as searching
from placewright.planner.search import structures as every
from placewright.planner.search import structures as nestings
from placewright.planner.search.bounds import Curve
from placewright.planner.search.branching import Branching
from placewright.planner.search.sizing import Sizing

from .questions import question
from .tried import Price, needlessly_apart, priced, shape

Lie = Callable[[Any], Any]
SEEDS = range(300, 370)
TOP = 3
Known = list[tuple[str, PlanningProblem, list[Price]]]


def instead(value: Any) -> Lie:
    """Whatever is asked, the same answer."""
    return lambda original: lambda *arguments, **named: value


def changed(change: Callable[[Any], Any]) -> Lie:
    """The right answer, changed."""
    return lambda original: lambda *arguments, **named: change(original(*arguments, **named))


def first_alone(original: Any) -> Any:
    """Only the first of what is not a worse than others."""
    return lambda items, *arguments, **named: original(items, *arguments, **named)[:1]


def weighed_more(maxima: Any) -> Any:
    """The slowest task counts once too often."""
    return tuple(Maximum(each.weight + (number > 0), each.sums) for number, each in enumerate(maxima))


def one_chain(maxima: Any) -> Any:
    """One of several sums is forgotten."""
    return tuple(Maximum(each.weight, each.sums[:1]) for each in maxima)


def fewer(found: Any) -> Any:
    """ns and accelerators that may be used: one accelerator less than may be."""
    return found and (found[0], found[1] - 1)


LIES: dict[str, tuple[object, str, Lie]] = {
    "pipelines": (Stream, "maxima", changed(weighed_more)),
    "branches": (Stream, "maxima", changed(one_chain)),
    "sets of a stage": (Stages, "maxima", changed(one_chain)),
    "more memory around": (sizing, "_memory", instead(lambda number, choice: 1)),
    "never so few": (Curve, "count_needed", changed(lambda needed: needed + 1)),
    "memory in one phase alone": (PlanningProblem, "turns_of", changed(lambda turns: turns[:1])),
    "room": (Sizing, "fits", instead(True)),
    "one inside, all of it": (sizing, "count_left_over", instead(0)),
    "both orders": (Sizing, "price", changed(lambda price: price[::-1])),
    "raised too high": (branching, "raise_bound", changed(lambda value: value + 1 + value // 8)),
    "too high": (Branching, "_price", changed(lambda price: (price[0] + 1 + price[0] // 8, price[1]))),
    "one less": (Branching, "_spare", changed(fewer)),
    "no other degrees": (joining, "drop_dominated", first_alone),
    "at the same time": (every, "conflicts", instead(set())),
    "a circle is cut": (every, "units", lambda original: lambda asked, pairs: original(replace(asked, flow=replace(asked.flow, rounds=())), pairs)),
    "never the second": (every._Cutting, "_part", lambda original: lambda self, tasks, parts: original(self, tasks, parts) if len(parts) < 2 else None),
    "everybody shares": (every, "may_share", instead(True)),
    "all at once": (nestings, "_obeys", instead(True)),
    "nobody nests": (every, "nestings", lambda original: lambda asked, sets, *rest: [(-1,) * len(sets)]),
    "no halves": (Branching, "_divide", instead(())),
}  # fmt: skip


@pytest.fixture(scope="module")
def known() -> Known:
    """Questions with what their best structures cost, by trying everything."""
    found: Known = []
    for name in ("stages", "stream"):
        stages = name == "stages"
        for seed in SEEDS:
            asked = question(seed, stages)
            best: dict[object, Price] = {}
            for price, design in priced(asked, stages):
                if stages or not needlessly_apart(asked, design):
                    key = shape(asked, design)
                    best[key] = min(price, best.get(key, price))
            found.append((name, asked, sorted(best.values())[:TOP]))
    return found


def agrees(known: Known) -> bool:
    """Does the search find what there is, every time?"""
    for name, asked, prices in known:
        model = cost_model(name)
        searched = searching.search(asked, model, count=TOP)
        if [each.price for each in searched.found] != prices or not searched.proved:
            return False
        if any(list(faults(asked, model, each.design)) for each in searched.found):
            return False
    return True


@pytest.mark.slow
def test_the_truth_agrees(known: Known) -> None:
    assert agrees(known)


@pytest.mark.parametrize("name", LIES)
def test_every_lie_is_caught(name: str, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, lie = LIES[name]
    monkeypatch.setattr(owner, attribute, lie(getattr(owner, attribute)))
    try:
        assert not agrees(known)
    except (IndexError, ValueError, KeyError, ZeroDivisionError):  # a lie after which nothing fits together any more is caught as well
        return
