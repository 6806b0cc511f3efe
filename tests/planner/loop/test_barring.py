"""What one design shows of others: a part of what has a placement has one, and nothing that has one is ruled out."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Iterator

import placewright as pw
import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.planning.design import Design, bars
from placewright.models.planning.problem import PlanningProblem
from placewright.models.planning.workload import After, Workload
from placewright.models.problem import Problem
from placewright.planner.benders import find_no_good
from placewright.planner.placing import placing
from placewright.planner.problem import planning_problem
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, problem
from ..looped import timed
from ..searching.crossing.questions import laid
from ..tried import designs

SEEDS = 32
CHAIN = """
cluster: 2x3xH100
components:
  rollout: {accelerators: 3, parallel: {tp: 3}, seconds: {3: 120}, phase: generate}
  ref: {accelerators: 2-4, parallel: {tp: 2}, seconds: {2: 146, 4: 90}, phase: infer}
  actor: {accelerators: 1-4, seconds: {3: 65, 4: 60}, phase: train}
plan: {workflow: rollout -> ref -> actor, nested: true}
"""


def test_what_is_around_one_that_is_left_out_is_still_around_those_within_it(tmp_path: Path) -> None:
    """Of `rollout` inside `ref`, on the accelerators of `actor`, it follows without `ref` that `rollout` is inside `actor`."""
    (tmp_path / "train.yaml").write_text(CHAIN)
    planned = pw.solve(tmp_path / "train.yaml", sandbox=False).planned
    assert planned is not None and planned.proved
    assert planned.best.nanoseconds == (120 + 146 + 60) * 10**9
    assert {name: its.amount for name, its in planned.best.design.options.items()} == {"rollout": 3, "ref": 2, "actor": 4}


@cache
def nested(seed: int) -> tuple[Problem, PlanningProblem, list[Design], list[Design]]:
    """Three components on two small nodes, some inside others; the designs that have a placement, by every way to lay them, and the others."""
    random = Random(f"nested {seed}")
    nodes = [{"count": random.choice((3, 3, 4)), "taken": random.choice((0, 0, 1))} for _ in range(2)]
    parts = [timed(name, tp, 4, tp=tp) for name in ("rollout", "ref", "actor") for tp in [random.choice((1, 2, 3))]]
    asked_for = problem(cluster(*nodes), *parts)
    question = planning_problem(asked_for.with_workload(Workload((After("rollout", "ref"), After("ref", "actor")), nested=True)))
    every: dict[object, Design] = {}
    for design in designs(question, False):
        every.setdefault((frozenset(design.blocks), tuple(design.options.items())), design)
    has = {key: any(True for _ in laid(asked_for, design)) for key, design in every.items()}
    placeable = [design for key, design in every.items() if has[key]]
    return asked_for, question, placeable, [design for key, design in every.items() if not has[key]]


def inner_first(found: list[Design], random: Random, count: int) -> Iterator[Design]:
    """Some of them, those with the most components inside others first."""
    yield from sorted(random.sample(found, len(found)), key=lambda its: -sum(len(block.components) for block in its.blocks))[:count]


@pytest.mark.slow
def test_a_part_of_a_design_that_has_a_placement_has_one() -> None:
    """Whatever is answered of the parts that are tried: each of them is one of what could be laid out."""
    parts = 0
    for seed in range(SEEDS):
        asked_for, question, placeable, _ = nested(seed)
        random = Random(f"parts {seed}")
        for design in inner_first(placeable, random, 3):
            tried: list[Problem] = []

            def place(part: Problem, tried: list[Problem] = tried, random: Random = random) -> Answer:
                tried.append(part)
                return Answer(IMPOSSIBLE if len(tried) == 1 or random.random() < 0.5 else UNDECIDED)

            find_no_good(asked_for, question, design, place)
            for part in tried:
                assert solve(part).plan is not None, (seed, design.blocks, [each.name for each in part.components])
                parts += 1
            assert solve(placing(asked_for, question, design)).plan is not None, (seed, design.blocks)
    assert parts > 300


def test_nothing_that_has_a_placement_is_ruled_out() -> None:
    several = 0
    for seed in range(SEEDS):
        asked_for, question, placeable, without = nested(seed)
        for design in inner_first(without, Random(f"without {seed}"), 10):
            out = find_no_good(asked_for, question, design, solve)
            assert bars(out, design), seed
            assert not any(bars(out, other) for other in placeable), (seed, design.blocks, out)
            several += len(out.uses) < len(design.options)
    assert several > 15
