"""Given ranks that overlap in part: what is said to be the least of an iteration is that of the best of all designs around them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import UNDECIDED
from placewright.models.component import Component
from placewright.models.placements.run import Run
from placewright.models.planning.design import Block, Design
from placewright.models.planning.measured import SECOND, TABLE, Measured
from placewright.models.planning.workload import After, Timed, Workload
from placewright.models.problem import Problem
from placewright.solver.planning.asking.asked import asked
from placewright.solver.planning.asking.taking_turns import taking_turns
from placewright.solver.planning.costs import cost_model
from placewright.solver.planning.costs.cost_model import iteration
from placewright.solver.planning.plan import plan
from placewright.solver.planning.searching.search import search
from placewright.solver.planning.searching.structures.segmentations import segmentations
from placewright.solver.searching.search import solve

from ...cases import cluster, given, problem

NAMES, PHASES = ("rollout", "actor", "ref"), ("generate", "train", "infer")
EDGES = (
    (),
    (After("rollout", "ref"), After("ref", "actor")),
    (After("rollout", "actor"), After("rollout", "ref")),
    (After("rollout", "ref", True), After("ref", "actor")),
)


def asked_for(random: Random, model: str) -> Problem:
    """Two on three of five accelerators each, one of which both have; a third one on some of the others."""

    def timed(name: str, *counts: int) -> Timed:
        phase = PHASES[NAMES.index(name)]
        return Timed(tuple(Measured(count, random.randint(1, 60) * SECOND, phase) for count in counts), TABLE)

    parts = [given(name, Run(range(0, 3), 0, first=first), timed=timed(name, 3)) for name, first in (("rollout", 0), ("actor", 2))]
    found = problem(cluster({"count": 8}), *parts, Component("ref", least=1, most=8, timed=timed("ref", 1, 2, 3)), shares=True)
    workload = Workload(random.choice(EDGES), model=model, phases=("generate", "infer", "train"), batches=random.choice((1, 4)))
    return replace(found, job=replace(found.job, workload=workload))


def best(its: Problem) -> int | None:
    """The least of all designs, with the blocks that the ranks are."""
    assert its.job.workload is not None
    question, model = asked(its, its.job.workload), cost_model(its.job.workload.model)
    found = list[int]()
    for option in question.options["ref"]:
        blocks = (
            Block(0, 2, ("rollout",)), Block(0, 1, ("rollout", "actor")), Block(0, 2, ("actor",)), Block(0, option.amount, ("ref",)),
        )  # fmt: skip
        options = {name: each[0] for name, each in question.options.items()} | {"ref": option}
        for segments in segmentations(question, model, tuple(block.components for block in blocks)):
            found.append(iteration(model, question, Design(blocks, options, segments)))
    return min(found, default=None)


@pytest.mark.parametrize("model", ["stream", "steady", "stages"])
@pytest.mark.parametrize("seed", range(12))
def test_the_least_is_that_of_all_designs(seed: int, model: str) -> None:
    its = asked_for(Random(seed), model)
    turns = taking_turns(its)
    assert turns is not None and its.job.workload is not None
    searched = search(asked(turns, its.job.workload), cost_model(model))
    least = best(its)
    assert searched.bound == least and (least is None or searched.first_proved)
    answer = plan(its, its.job.workload, solve)
    assert answer.verdict == UNDECIDED
    (told,) = answer.findings
    assert ("at least" in told.message) is (least is not None)


def test_nothing_is_said_where_others_may_use_them() -> None:
    its = asked_for(Random(1), "stream")
    related = problem(its.cluster, *its.components, together="rollout+ref", shares=True)
    assert taking_turns(replace(related, job=replace(related.job, workload=its.job.workload))) is None
    assert taking_turns(its) is not None
    assert taking_turns(replace(its, job=replace(its.job, overlaps={"rollout": frozenset({"ref"})}))) is None
