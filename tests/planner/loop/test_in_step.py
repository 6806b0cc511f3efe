"""Ranges that share whole processes: the plan is proved, and is the best of all designs for which places are tried one by one."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Iterator

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.planning.design import Design
from placewright.models.planning.workload import SECOND, TABLE, After, Measurement, TimedComponent, Workload
from placewright.models.problem import Problem
from placewright.planner.plan import plan
from placewright.planner.problem import planning_problem
from placewright.solver.searching.search import solve
from sampling import examples

from ...solver.cases import cluster, component, problem
from ..tried import priced

CHAIN = Workload((After("infer", "ref"), After("ref", "train")), nested=True)


def drawn(seed: int) -> tuple[Problem, int, int]:
    """(problem, nodes, accelerators of each): two ranges, of which one has processes of several accelerators, and a third component."""
    random = Random(f"in step {seed}")
    nodes, each = random.choice(((2, 3), (2, 5), (2, 6), (3, 3)))
    size = random.choice([size for size in (2, 2, 3, 4) if size <= each])
    total = nodes * each

    def times(slow: int, counts: list[int]) -> TimedComponent:
        work = random.randrange(slow // 2, slow)
        rows = {count: (work // count + random.randrange(8)) * SECOND for count in counts}
        return TimedComponent(tuple(Measurement(count, its) for count, its in rows.items()), scaling=TABLE)

    whole = list(range(size, total + 1, size))
    some = sorted(random.sample(range(1, total + 1), 3))
    parts = (
        replace(component("infer", 1, total, per_process=size, contiguous=True, any_order=True), timed=times(900, whole[:3])),
        replace(component("train", 1, total, contiguous=True, any_order=True), timed=times(600, sorted({*some, whole[-1]}))),
        replace(component("ref", 1, total), timed=times(300, random.sample(some, 2))),
    )
    return problem(cluster(*({"count": each} for _ in range(nodes))), *parts, in_step="train+infer"), nodes, each


def places(nodes: int, each: int, amount: int, unit: int) -> Iterator[range]:
    """Every range of so many accelerators that cuts no unit between nodes."""
    for start in range(nodes * each - amount + 1):
        held = range(start, start + amount)
        if all(sum(rank // each == node for rank in held) % unit == 0 for node in range(nodes)):
            yield held


def is_placeable(design: Design, nodes: int, each: int) -> bool:
    """Is there a place for both ranges, in step where they meet, with room for the third component in what they share and in what not?"""
    wanted = {frozenset(block.components): block.accelerators for block in design.blocks}
    infer, train = design.options["infer"], design.options["train"]
    for one in places(nodes, each, train.amount, 1):
        for other in places(nodes, each, infer.amount, infer.per_process):
            both = len(set(one) & set(other))
            if both and ((one.start - other.start) % infer.per_process or (one.stop - other.stop) % infer.per_process):
                continue
            rooms = {("infer", "train"): both, ("train",): len(one) - both, ("infer",): len(other) - both}
            exact = all(wanted.get(frozenset(its), 0) + wanted.get(frozenset((*its, "ref")), 0) == room for its, room in rooms.items())
            if exact and wanted.get(frozenset(("ref",)), 0) <= nodes * each - sum(rooms.values()):
                return True
    return False


@pytest.mark.parametrize("seed", range(examples(12)))
def test_the_plan_is_proved_and_is_the_best_that_can_be_placed(seed: int) -> None:
    question, nodes, each = drawn(seed)
    every = replace(
        planning_problem(question.with_workload(CHAIN)),
        areas=(),
        sharing=replace(planning_problem(question.with_workload(CHAIN)).sharing, in_step=frozenset()),
    )
    its = sorted(priced(every, False), key=lambda found: found[0])
    best = next((price for price, design in its if is_placeable(design, nodes, each)), None)
    answer = plan(question.with_workload(CHAIN), solve)
    if best is None:
        assert answer.verdict == IMPOSSIBLE
        return
    assert answer.planned is not None
    assert answer.planned.proved
    assert answer.planned.price == best
