"""Cuts of an iteration against every division of its tasks: those of which no two parts could be one, each once, and nothing lost by it."""

from __future__ import annotations

from random import Random
from typing import Iterator

import pytest
from placewright.models.planning.cost_models import iteration
from placewright.models.planning.design import Block, Design
from placewright.models.planning.problem import PlanningProblem, Task
from placewright.planner.costs import cost_model
from placewright.planner.search.structures import segmentations
from sampling import examples

from ...questions import question
from ...tried import Uses, could_be_fewer, in_order, may_run

Cut = frozenset[frozenset[int]]
SEEDS = range(examples(200))
MOST = 6
"""Tasks of a question of which every division is tried."""


def blocks(asked: PlanningProblem, random: Random) -> tuple[Block, ...]:
    """Any components on the same accelerators, also some that are inside others or beside them."""
    found = dict.fromkeys(tuple(name for name in asked.components if random.random() < 0.4) for _ in range(random.randint(1, 4)))
    return tuple(Block(0, 1, its) for its in found if its)


def cases() -> Iterator[tuple[int, PlanningProblem, tuple[Block, ...], Uses]]:
    for seed in SEEDS:
        asked, random = question(seed, False), Random(seed)
        its = blocks(asked, random)
        if len(asked.tasks) <= MOST:
            uses = {name: frozenset(place for place, block in enumerate(its) if name in block.components) for name in asked.components}
            yield seed, asked, its, uses


def divisions(count: int) -> Iterator[tuple[int, ...]]:
    """Every way to put so many tasks into parts, in no order."""

    def extend(parts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(parts) == count:
            yield parts
            return
        for part in range(max(parts, default=-1) + 2):
            yield from extend((*parts, part))

    return extend(())


def allowed(asked: PlanningProblem, uses: Uses) -> list[tuple[int, ...]]:
    """Every cut that may run."""
    ordered = (in_order(asked, parts) for parts in divisions(len(asked.tasks)))
    return [parts for parts in ordered if parts is not None and may_run(asked, uses, parts)]


def cut(parts: tuple[int, ...]) -> Cut:
    return frozenset(frozenset(task for task, part in enumerate(parts) if part == each) for each in parts)


def listed(asked: PlanningProblem, its: tuple[Block, ...]) -> list[tuple[int, ...]]:
    return list(segmentations(asked, cost_model("stream"), tuple(block.components for block in its)))


def test_each_cut_of_which_no_two_parts_could_be_one_comes_once() -> None:
    several = 0
    for seed, asked, its, uses in cases():
        found = listed(asked, its)
        expected = {cut(parts) for parts in allowed(asked, uses) if not could_be_fewer(asked, uses, parts)}
        assert len(found) == len(set(map(cut, found))), seed
        assert set(map(cut, found)) == expected, seed
        several += len(found) > 1
    assert several > 25


def test_the_parts_come_in_an_order_in_which_they_can_run() -> None:
    for seed, asked, its, uses in cases():
        for parts in listed(asked, its):
            assert set(parts) == set(range(len(set(parts)))) and may_run(asked, uses, parts), seed


def test_of_parts_that_need_not_wait_the_one_with_the_first_task_comes_first() -> None:
    asked = PlanningProblem((), tuple(map(Task, "abcd")), dict.fromkeys("abcd", ()))
    assert sorted(segmentations(asked, cost_model("stream"), (("a", "c"), ("b", "d")))) == [(0, 0, 1, 1), (0, 1, 1, 0)]


@pytest.mark.parametrize("name", ["stream", "rlinf", "rlinf-embodied"])
def test_no_cut_that_is_left_out_takes_less(name: str) -> None:
    """Whatever the times are: parts that could be one take no longer as one."""
    model, left_out = cost_model(name), 0
    for seed, asked, its, uses in cases():
        every = allowed(asked, uses)
        for options in zip(*(options * 3 for options in asked.options.values())):
            chosen = dict(zip(asked.options, options))
            times = {cut(parts): iteration(model, asked, Design(its, chosen, parts)) for parts in every}
            kept = [times[cut(parts)] for parts in listed(asked, its)]
            assert min(kept, default=None) == min(times.values(), default=None), seed
            left_out += len(times) - len(kept)
    assert left_out > 500
