"""Where very many structures are listed before they are searched, the same is said: on jobs so small that everything can be searched."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import log
from random import Random

import pytest
from placewright.models.parallel import Parallel
from placewright.models.planning.kind import Kind
from placewright.models.planning.option import Option
from placewright.models.planning.planned import Planned, Priced
from placewright.models.planning.question import Edge, Question, Task
from placewright.models.planning.workload import SECONDS
from placewright.solver.planning.after.flips import floors
from placewright.solver.planning.after.flips.among import Among, Span
from placewright.solver.planning.after.flips.sensitivity import sensitivity
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.structures.structure import Structure

from ..designs import each_planned
from .test_sensitivity import stands


@cache
def listable() -> tuple[Planned, ...]:
    return tuple(each for each in each_planned("stream", range(120)) if not each.question.nested and each.question.aim == SECONDS)


def test_the_same_flips_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    its = listable()
    before = [sensitivity(each).flips for each in its]
    monkeypatch.setattr(floors, "MOST", 0)
    flipped = 0
    for planned, known in zip(its, before):
        found = sensitivity(planned).flips
        assert [(each.component, each.holds, each.flips, each.takes, each.sure) for each in found] == [
            (each.component, each.holds, each.flips, each.takes, each.sure) for each in known
        ]
        assert [each.to and each.to.nanoseconds for each in found] == [each.to and each.to.nanoseconds for each in known]
        flipped += sum(each.flips is not None for each in found)
    assert flipped > 8 and len(its) > 20


def test_what_is_said_where_time_is_over_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(floors, "MOST", 0)
    random, part = Random(4), 0
    for planned in listable():
        for flip in sensitivity(planned, limit=random.choice((0.001, 0.005, 0.02, 0.1)), most=random.choice((1, 5, 50))).flips:
            assert flip.holds == 100 or stands(planned, flip.component, flip.holds), flip
            assert stands(planned, flip.component, random.randint(*sorted((100, flip.holds)))), flip
            assert flip.flips is None or not stands(planned, flip.component, flip.flips), flip
            part += not flip.sure
    assert part > 10


def test_the_traffic_of_the_plan_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    random, its = Random(5), listable()
    crossing = [replace(each, best=replace(each.best, traffic=each.best.nanoseconds * random.choice((2, 9)) // 100)) for each in its]
    before = [sensitivity(each, traffic=True) for each in crossing]
    monkeypatch.setattr(floors, "MOST", 0)
    for planned, known in zip(crossing, before):
        found = sensitivity(planned, traffic=True)
        assert [(each.component, each.holds, each.flips) for each in found.flips] == [
            (each.component, each.holds, each.flips) for each in known.flips
        ]


def nine() -> Question:
    """Nine components on eight accelerators, eight of them in pairs of which one hands batches on to the other."""
    rows = ((13, 5.659), (21, 9.141), (36, 4.5), (35, 4.375), (55, 12.829), (11, 1.375), (6, 0.75), (32, 13.929), (49, 6.125))

    def times(alone: float, on_all: float) -> tuple[Option, ...]:
        power = log(alone / on_all) / log(8)
        return tuple(Option(0, count, Parallel(), (round(alone * 10**9 / count**power / 8) * 8,)) for count in range(1, 9))

    options = {f"c{number}": times(*its) for number, its in enumerate(rows)}
    edges = tuple(Edge(number, number + 1) for number in range(0, 8, 2))
    return Question((Kind("H100", 8),), tuple(map(Task, options)), options, edges, batches=8)


def test_of_nine_components_most_ways_are_decided() -> None:
    """12 of 18 in a time in which at most 9 are where each way is searched by itself, over and over."""
    asked = nine()
    searched = search(asked, cost_model("stream"), count=4)
    assert searched.best is not None and searched.bound == searched.best.price[0]
    best = Priced(searched.best.design, searched.best.price[0])
    planned = Planned(asked, "stream", best, searched.bound, True, structures=searched.structures, seen=searched.seen)
    found = sensitivity(planned, limit=4.5)
    assert sum(each.sure for each in found.flips) >= 12
    assert not any(each.sure and each.flips is not None and stands(planned, each.component, each.flips) for each in found.flips)


def test_of_what_was_listed_only_what_may_be_better_is_searched() -> None:
    one, other = Structure((("a",), ("b",)), (-1, -1), (0, 1)), Structure((("a", "b"),), (-1,), (0, 1))
    among = Among("a", 80, {one: 1000, other: 2000}, {"a": Span(50, 99)}, 0)
    assert among.covers("a", Span(50, 60)) and not among.covers("a", Span(50, 100)) and not among.covers("b", Span(60, 70))
    assert among.of("a", Span(80, 80), 80, 999) == [] and among.of("a", Span(80, 80), 80, 1000) == [one]
    assert among.of("a", Span(60, 60), 60, 750) == [one]  # 60 % of what 80 % take is three quarters of it
    assert among.of("a", Span(90, 90), 90, 1999) == [one] and among.of("a", Span(90, 90), 90, 2000) == [one, other]
    among.rule_out("a", Span(70, 99), [one])
    assert among.of("a", Span(80, 99), 80, 2000) == [other] and among.of("a", Span(60, 99), 80, 2000) == [one, other]
