"""Best designs of random small questions, as planning would report them."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator

from placewright.models.planning.cost_models import iteration, segment_times
from placewright.models.planning.planned import CostedDesign, PlanningResult
from placewright.models.planning.problem import PlanningProblem
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search

from ..questions import question


def in_microseconds(asked: PlanningProblem) -> PlanningProblem:
    """The question with times so long that a nanosecond more or less is no matter of percents."""
    options = {
        name: tuple(replace(each, nanoseconds=tuple(1000 * time for time in each.nanoseconds)) for each in its)
        for name, its in asked.options.items()
    }
    most = asked.budget.nanoseconds
    budget = asked.budget if most is None else replace(asked.budget, nanoseconds=1000 * most)
    return replace(asked, options=options, budget=budget)


def scaled(asked: PlanningProblem, component: str, percent: int) -> PlanningProblem:
    """The question in which a component takes so many percent of its times."""
    batches = asked.flow.batches
    options = tuple(
        replace(each, nanoseconds=tuple(-(-time * percent // (100 * batches)) * batches for time in each.nanoseconds))
        for each in asked.options[component]
    )
    return replace(asked, options={**asked.options, component: options})


def each_planned(name: str, seeds: Iterable[int]) -> Iterator[PlanningResult]:
    """The answers of those random questions that have one; `name` is that of a cost model."""
    model = cost_model(name)
    for seed in seeds:
        asked = in_microseconds(question(seed, name == "stages"))
        searched = search(asked, model, count=4)
        if searched.best is not None and searched.bound is not None:
            priced = [CostedDesign(each.design, iteration(model, asked, each.design), tuple(segment_times(model, asked, each.design)))
                      for each in searched.found]  # fmt: skip
            yield PlanningResult(asked, name, priced[0], searched.bound, searched.proved, tuple(priced[1:]), (), searched.structures)
