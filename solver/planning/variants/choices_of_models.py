"""The choices of models that components are on whose times name models: how many there are, and what none of them costs less than."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import product
from math import prod
from typing import Callable, Iterator, Sequence

from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from .spanning import Models, as_loosely_spanning, as_spanning, sets_of_models

MOST_LOOKED_AT = 24
"""Choices that are bounded at most, for what is only told beside a plan: some components of one, or all."""
MOST_PARTS = 12
"""Of more choices, a plan is not said to be the best answer to each of their questions."""


def least_on_models(problem: Problem, least: Callable[[Problem], int | None]) -> int | None:
    """What no plan on any models costs less than, by what `least` says of some components on some; None where it says None of all."""
    sets, looked = sets_of_models(problem), 0
    first = least(as_loosely_spanning(problem, {}))
    heap: list[tuple[int, int, Models]] = [] if first is None else [(first, 0, {})]
    while heap:
        bound, _, models = heappop(heap)
        name = next((name for name in sets if name not in models), None)
        if name is None or looked >= MOST_LOOKED_AT or was_heard():
            return bound
        for its in sets[name]:
            looked += 1
            more = {**models, name: its}
            if (costs := least(as_loosely_spanning(problem, more))) is not None:
                heappush(heap, (max(costs, bound), looked, more))
    return None


def how_many(problem: Problem) -> int:
    """How many choices of models there are."""
    return prod(map(len, sets_of_models(problem).values()))


def questions_of(problem: Problem, known: Sequence[Question]) -> tuple[Question, ...]:
    """The questions of all choices of models, as they are known where they were answered; none where these are very many."""
    if not 1 < how_many(problem) <= MOST_PARTS:
        return ()
    answered = {tuple(sorted(each.on_models.items())): each for each in known}
    workloads = [(its, its.job.workload or Workload()) for its in choices_of(problem)]
    questions = [answered.get(tuple(sorted(workload.on_models.items()))) or asked(its, workload) for its, workload in workloads]
    return tuple(each for each in questions if all(each.options.values()))


def choices_of(problem: Problem) -> Iterator[Problem]:
    """The problem with each choice of models."""
    sets = sets_of_models(problem)
    return (as_spanning(problem, dict(zip(sets, its))) for its in product(*sets.values()))
