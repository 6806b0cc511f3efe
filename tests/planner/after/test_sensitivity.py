"""At which factor of a component's times another plan is better: compared with every design of small questions."""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from random import Random
from typing import Iterator

import pytest
from placewright.models.account import HUNDRED, QUICKER, SLOWER, PlanChange, Sensitivity
from placewright.models.planning.design import Design
from placewright.models.planning.option import Option
from placewright.models.planning.planned import PlanningResult
from placewright.models.planning.workload import SECOND, SECONDS
from placewright.planner.accounting import account
from placewright.planner.answer import Solver
from placewright.planner.sensitivity import WORTH, sensitivity
from placewright.solver.searching.search import solve

from ..choosing.test_tied import DEGREES, NAMES, Times, job
from ..tried import Price, cost, designs
from .designs import each_planned

SEEDS = {
    "stages": (*range(12), 14, 52, 56, 69),
    "stream": (*range(12), 23, 25, 29, 54, 66, 137),
}
"""Some random questions, and some on which the plan changes, for fewest accelerators or in a budget too."""
MODELS = tuple(SEEDS)


def with_times(option: Option, percent: int) -> Option:
    """The option with `percent` of its times, which are whole thousands of batches."""
    times = tuple(time * percent // HUNDRED for time in option.nanoseconds)
    return replace(option, nanoseconds=times)


class Tried:
    """Every design of a plan's question, at any factor."""

    def __init__(self, planned: PlanningResult) -> None:
        self.planned, self.stages = planned, planned.model == "stages"
        self.every = list(designs(planned.question, self.stages))
        self.known: dict[tuple[str, int], Price | None] = {}

    def price(self, design: Design, component: str, percent: int, known: dict[object, int]) -> Price:
        options = design.options
        its = {**options, component: with_times(options[component], percent)}
        question = self.planned.question
        time, used = cost(question, replace(design, options=its), self.stages, known), design.accelerators
        return (time, used) if question.aim == SECONDS else (used, time)

    def best(self, component: str, percent: int) -> Price | None:
        """The price of the best design within the budget."""
        if (component, percent) not in self.known:
            self.known[component, percent] = self._best(component, percent)
        return self.known[component, percent]

    def _best(self, component: str, percent: int) -> Price | None:
        question, known = self.planned.question, defaultdict[int, dict[object, int]](dict)
        limits = question.budget.nanoseconds or sys.maxsize, question.budget.accelerators or sys.maxsize
        every = (self.price(each, component, percent, known[id(each.options)]) for each in self.every)
        by_time = question.aim == SECONDS
        within = (
            each
            for each in every
            if all(its <= most for its, most in zip(each, limits if by_time else limits[::-1]))
        )  # fmt: skip
        return min(within, default=None)

    def is_better(self, component: str, percent: int) -> bool:
        """True if another design is better there, or the plan breaks its budget."""
        planned, question = self.planned, self.planned.question
        price, best = self.price(planned.best.design, component, percent, {}), self.best(component, percent)
        takes = price[0 if question.aim == SECONDS else 1] + planned.best.traffic
        most = question.budget.nanoseconds
        if most is not None and takes > most:
            return True
        assert best is not None
        return best[0] * (HUNDRED + WORTH) < takes * HUNDRED if question.aim == SECONDS else best[0] < price[0]


def small(name: str, most: int = 1000) -> Iterator[PlanningResult]:
    """Plans of at most three components: there, trying every design is quick."""
    seeds = SEEDS[name][-most:]
    return (each for each in each_planned(name, seeds) if len(each.question.options) < 4)


def ways(planned: PlanningResult) -> Iterator[tuple[str, tuple[int, ...]]]:
    names = dict.fromkeys(task.component for task in planned.question.tasks)
    yield from ((name, factors) for name in names for factors in (SLOWER, QUICKER))


def flip_of(found: Sensitivity, name: str, factors: tuple[int, ...]) -> PlanChange | None:
    return next((flip for flip in found.flips if flip.component == name and flip.flips in factors), None)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_plan_changes_at_the_nearest_factor_at_which_any_design_is_better(name: str) -> None:
    flipped = held = 0
    for planned in small(name):
        found, tried = sensitivity(planned), Tried(planned)
        assert not found.left
        for component, factors in ways(planned):
            flip = flip_of(found, component, factors)
            holds = factors[: factors.index(flip.flips)] if flip is not None else factors
            assert not any(tried.is_better(component, percent) for percent in holds), component
            held += len(holds)
            if flip is None:
                continue
            flipped += 1
            best = tried.best(component, flip.flips)
            assert tried.is_better(component, flip.flips) and flip.holds == (HUNDRED, *holds)[-1], flip
            assert (flip.to.price(planned.question) if flip.to is not None else None) == best, flip
    assert flipped > 8 and held > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_what_is_said_is_true_wherever_the_searches_end(name: str) -> None:
    """What is not decided is `left` from the nearest such factor on; without a search some holds."""
    left = held = 0
    for planned in small(name, 4):
        tried, whole = Tried(planned), sensitivity(planned)
        cut = [sensitivity(planned, most=most) for most in range(whole.searches)]
        assert [each.searches for each in cut] == list(range(whole.searches))
        for found in (*cut, sensitivity(planned, limit=0.0), sensitivity(planned, limit=0.0005)):
            assert found.searches <= whole.searches
            unknown = {(each, percent > HUNDRED): percent for each, percent in found.left}
            left += len(unknown)
            for component, factors in ways(planned):
                flip = flip_of(found, component, factors)
                end = unknown.get((component, factors is SLOWER))
                assert flip is None or (end is None and tried.is_better(component, flip.flips))
                end = flip.flips if flip is not None else end
                holds = factors[: factors.index(end)] if end is not None else factors
                held += len(holds)
                assert not any(tried.is_better(component, each) for each in holds), flip
    assert left > 20 and held > 100


def test_a_plan_that_is_not_proved_within_what_counts_as_better_is_not_judged() -> None:
    """Another one may be better with the times as they are."""
    for planned in each_planned("stream", range(5)):
        price = planned.price[0]
        unsure = replace(planned, bound=price * HUNDRED // (HUNDRED + WORTH) - 1, proved=False)
        found = sensitivity(unsure)
        assert not found.flips and not found.searches
        nearest = {(name, factors[0]) for name, factors in ways(planned)}
        assert set(found.left) == nearest and len(found.left) == len(nearest)


def test_the_traffic_of_the_plan_counts_and_that_of_others_is_not_known() -> None:
    flipped = 0
    for planned in small("stream", 8):
        if planned.question.aim == SECONDS:
            best = replace(planned.best, traffic=planned.best.nanoseconds * 4 // HUNDRED)
            crossing = replace(planned, best=best)
            tried = Tried(crossing)
            for flip in sensitivity(crossing, traffic=True).flips:
                assert tried.is_better(flip.component, flip.flips)
                assert flip.to is None or not flip.placed
                flipped += 1
    assert flipped > 3


def test_the_same_plan_gives_the_same_answer() -> None:
    one, other = ([sensitivity(each) for each in small("stream", 4)] for _ in range(2))
    assert one == other


def drawn(seed: int) -> Times:
    random = Random(seed)
    return {name: {each: random.randint(1, 100) for each in DEGREES} for name in NAMES}


TWO_ARE_BETTER: Times = {
    "actor": dict(zip(DEGREES, (50, 10, 12))),
    "ref": dict(zip(DEGREES, (50, 94, 92))),
    "rollout": dict.fromkeys(DEGREES, 1),
}


@pytest.mark.parametrize("times", [TWO_ARE_BETTER, *map(drawn, range(8))])
def test_where_degrees_follow_others_a_plan_changes_to_the_best_degrees_of_all(times: Times) -> None:
    solver, problem = Solver(solve, 10.0), job(times)
    planned = solver(problem).planned
    assert planned is not None
    found = account(problem, planned, solve=solver).sensitivity
    assert found is not None and not found.left
    plan = planned.best.design.options["actor"].parallel

    def takes(component: str, percent: int) -> dict[object, int]:
        """ns of an iteration with each choice of the actor's degrees, which `ref` has too."""
        factor = {name: percent if name == component else HUNDRED for name in NAMES}
        return {
            degrees: sum(
                times[name][DEGREES[0] if name == "rollout" else degrees] * factor[name] * SECOND // HUNDRED
                for name in NAMES
            )
            for degrees in DEGREES
        }  # fmt: skip

    for name, factors in ways(planned):
        flip = flip_of(found, name, factors)
        for percent in factors[: factors.index(flip.flips)] if flip is not None else factors:
            its = takes(name, percent)
            assert min(its.values()) * (HUNDRED + WORTH) >= its[plan] * HUNDRED
        if flip is not None:
            its = takes(name, flip.flips)
            assert flip.to is not None and flip.placed and flip.takes == its[plan]
            degrees = {flip.to.design.options[each].parallel for each in ("actor", "ref")}
            assert [its[each] for each in degrees] == [min(its.values())] == [flip.to.nanoseconds]
