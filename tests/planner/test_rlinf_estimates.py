"""RLinf's own estimates of a reasoning and of an embodied job: compared with everything tried."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from placewright.models.planning.design import Design
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import SECONDS, Budget
from placewright.planner.costs import cost_model
from placewright.planner.search.search import search

from .questions import question
from .tried import priced

SAMPLES = 80


def as_rlinf(asked: PlanningProblem, design: Design) -> bool:
    """Is it one of those that RLinf's tool keeps of a reasoning job?"""
    timed = [[name for name in block.components if asked.tasks_of[name]] for block in design.blocks]
    return len(design.blocks) == 1 or (all(len(names) <= 1 for names in timed) and not any(design.segments))


def test_by_rlinfs_estimate_all_share_or_all_are_apart() -> None:
    answers = 0
    for seed in range(SAMPLES):
        asked = question(seed, False)
        best = min((cost for cost, design in priced(asked, False) if as_rlinf(asked, design)), default=None)
        found = search(asked, cost_model("rlinf"))
        assert found.proved, seed
        assert (found.best.price if found.best else None) == best, seed
        answers += best is not None
    assert answers > SAMPLES // 3


def embodied_cost(asked: PlanningProblem, design: Design) -> int:
    """A part of one task takes its time; of several, the longest chain of a batch each, and one batch alone is counted."""
    found = Fraction()
    for part in sorted(set(design.segments)):
        its = [task for task in range(len(asked.tasks)) if design.segments[task] == part]
        times = {task: Fraction(design.nanoseconds(asked, task)) for task in its}
        if len(its) == 1:
            found += times[its[0]]
            continue
        until: dict[int, Fraction] = {}
        for task in its:
            before = [until[edge.earlier] for edge in asked.flow.edges if edge.later == task and edge.earlier in until]
            until[task] = times[task] / asked.flow.batches + max(before, default=Fraction())
        found += max(until.values())
    assert found == int(found)
    return int(found)


def test_by_rlinfs_embodied_estimate_what_overlaps_counts_for_one_batch() -> None:
    answers = 0
    for seed in range(SAMPLES):
        asked = replace(question(seed, False), budget=Budget(), aim=SECONDS)
        last = asked.tasks[-1].component
        prices = [
            (embodied_cost(asked, design), design.accelerators)
            for _, design in priced(asked, False)
            if all(last in block.components for block in design.blocks)
        ]
        found = search(asked, cost_model("rlinf-embodied"))
        assert found.proved, seed
        assert (found.best.price if found.best else None) == min(prices, default=None), seed
        answers += bool(prices)
    assert answers > SAMPLES // 3
