"""Given ranks that overlap in part: the plan around them is the best of all designs, and what is told instead of one is no more than that."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from placewright.models.answer import IMPOSSIBLE, UNDECIDED, Answer
from placewright.models.component import Component
from placewright.models.machines.cluster import Cluster
from placewright.models.parallel import UNDIVIDED, Parallel
from placewright.models.placements.plan import OPTIMAL
from placewright.models.placements.run import Run
from placewright.models.planning.design import Block, Design
from placewright.models.planning.measured import SECOND, TABLE, Measured
from placewright.models.planning.workload import After, Timed, Workload
from placewright.models.problem import Problem
from placewright.planner.accounting import account_of
from placewright.planner.answer import Solver
from placewright.planner.costs import cost_model
from placewright.planner.costs.cost_model import iteration
from placewright.planner.overlapping import taking_turns
from placewright.planner.problem import asked
from placewright.planner.search.segmentations import segmentations
from placewright.planner.search.settle import settle
from placewright.solver.searching.search import solve

from ...solver.cases import cluster, given, problem

ANSWER = Solver(solve, 10.0, 1, settle)
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
    return replace(found, job=replace(found.job, planning=replace(found.job.planning, workload=workload)))


def best(its: Problem) -> int | None:
    """The least of all designs, with the blocks that the ranks are."""
    assert its.job.planning.workload is not None
    question, model = asked(its, its.job.planning.workload), cost_model(its.job.planning.workload.model)
    seats = {part.name: its.given().accelerators(part.name) for part in its.components if part.runs}
    held = Counter(tuple(name for name in seats if seat in seats[name]) for seat in frozenset[tuple[int, int]]().union(*seats.values()))
    (open_,) = (part.name for part in its.components if part.runs is None)
    found = list[int]()
    for option in question.options[open_]:
        blocks = (*(Block(0, count, names) for names, count in held.items()), Block(0, option.amount, (open_,)))
        options = {name: each[0] for name, each in question.options.items()} | {open_: option}
        if option.amount <= 8 - sum(held.values()):
            for segments in segmentations(question, model, tuple(block.components for block in blocks)):
                found.append(iteration(model, question, Design(blocks, options, segments)))
    return min(found, default=None)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("model", ["stream", "steady", "stages"])
@pytest.mark.parametrize("seed", range(12))
def test_the_plan_is_the_best_of_all_designs(seed: int, model: str, nested: bool) -> None:
    """Of two that overlap, or of three, of which the outer ones share nothing, or all of them one, or any two of them one."""
    its = asked_for(Random(seed), model)
    assert its.job.planning.workload is not None
    if seed % 4:
        its = with_a_third(its, ((4, 5), (2, 3), (0, 4))[seed % 4 - 1])
    its = replace(
        its,
        job=replace(its.job, planning=replace(its.job.planning, workload=replace(its.job.planning.workload or Workload(), nested=nested))),
    )
    answer, least = ANSWER(its), best(its)
    if least is None:
        assert answer.verdict == IMPOSSIBLE
    else:
        assert answer.plan is not None and answer.planned is not None and answer.planned.proved
        assert answer.planned.best.nanoseconds == least == iteration(cost_model(model), answer.planned.question, answer.planned.best.design)
        given_ = [part for part in its.components if part.runs]
        assert all(answer.plan.assignment.of(part.name) == its.given().of(part.name) for part in given_)
        held = frozenset[tuple[int, int]]().union(*map(answer.plan.assignment.accelerators, answer.plan.components))
        assert len(held) == answer.planned.best.design.accelerators


@pytest.mark.parametrize("seed", [1, 3])
def test_what_stands_beside_it_on_fewer_accelerators_has_these_ranks_too(seed: int) -> None:
    """Each has the time of a design with the blocks that the ranks are."""
    its = asked_for(Random(seed), "stream")
    planned = ANSWER(its).planned
    assert planned is not None and planned.further
    for each in (further.priced for further in planned.further):
        assert [(block.components, block.accelerators) for block in each.design.blocks[:3]] == [
            (("rollout",), 2), (("rollout", "actor"), 1), (("actor",), 2),
        ]  # fmt: skip
        assert each.nanoseconds == iteration(cost_model("stream"), planned.question, each.design)


@pytest.mark.parametrize("seed", range(4))
def test_the_ranks_of_the_file_beside_these_are_compared_with_the_best(seed: int) -> None:
    its = asked_for(Random(seed), "stream")
    if seed % 2:
        its = with_a_third(its, (2, 3))
    best_ = ANSWER(its)
    assert best_.plan is not None and best_.planned is not None
    amount = best_.planned.best.design.options["ref"].amount
    for count in (1, 2, 3):
        runs = (Run(range(0, count), 0, first=5),)
        own = replace(its, job=replace(its.job, planning=replace(its.job.planning, own={"ref": runs})))
        answer = ANSWER(own)
        assert answer.plan is not None and answer.planned is not None and answer.planned.is_own is (count == amount)
        account = account_of(own, answer.planned, answer.plan.assignment)
        assert account.own is not None and account.own.priced is not None and not account.own.forbidden
        fixed = replace(its.components[2], least=count, most=count)
        parts = [fixed if part.name == "ref" else part for part in its.components]
        assert account.own.priced.nanoseconds == best(with_parts(its, its.cluster, *parts))
        near = account.own.priced.nanoseconds <= 1.05 * answer.planned.best.nanoseconds
        assert account.keeps is (near and count <= amount)


def with_a_third(its: Problem, on: tuple[int, int]) -> Problem:
    """`actor` on accelerators 2 to 4, `rollout` on 0 to 2, and `critic` on two others."""
    timed = Timed((Measured(2, 17 * SECOND, "train"),), TABLE)
    runs = tuple(Run(range(place, place + 1), 0, first=first) for place, first in enumerate(on))
    found = problem(its.cluster, *its.components, given("critic", *runs, timed=timed), shares=True)
    return replace(found, job=replace(found.job, planning=replace(found.job.planning, workload=its.job.planning.workload)))


def test_nothing_is_said_where_others_may_use_them() -> None:
    its = asked_for(Random(1), "stream")
    related = problem(its.cluster, *its.components, together="rollout+ref", shares=True)
    assert (
        taking_turns(replace(related, job=replace(related.job, planning=replace(related.job.planning, workload=its.job.planning.workload))))
        is None
    )
    assert taking_turns(its) is not None
    assert taking_turns(replace(its, job=replace(its.job, overlaps={"rollout": frozenset({"ref"})}))) is None


def with_parts(its: Problem, machines: Cluster, *parts: Component) -> Problem:
    found = problem(machines, *parts, shares=True)
    return replace(found, job=replace(found.job, planning=replace(found.job.planning, workload=its.job.planning.workload)))


@pytest.mark.parametrize("model", ["stream", "steady", "stages"])
@pytest.mark.parametrize("seed", range(6))
def test_a_chain_of_four_is_planned_around(seed: int, model: str) -> None:
    """The ends work beside the next but one, which three in a row do not; and two on other models may be anywhere in it."""
    its = asked_for(Random(seed), model)
    one = its.components[0].timed
    assert one is not None
    timed = [
        Timed((replace(one.measured[0], accelerators=2, nanoseconds=time * SECOND),), TABLE) for time in Random(seed).sample(range(60), 4)
    ]
    where = [(place, place + 1) for place in range(4)] if seed % 2 else [(0, 1), (1, 4), (2, 3), (3, 4)]
    chain = [
        given(name, *(Run(range(rank, rank + 1), seat // 4, first=seat % 4) for rank, seat in enumerate(seats)), timed=its_times)
        for name, seats, its_times in zip(("rollout", "actor", "critic", "reward"), where, timed)
    ]
    machines = cluster({"count": 4, "model": "H100"}, {"count": 4, "model": "A100" if seed > 2 else "H100"})
    named = replace(its.components[2], timed=replace(timed[0], measured=tuple(_on(*each) for each in ((1, "H100", 9), (2, "A100", 4)))))
    its = with_parts(its, machines, *chain, named)
    answer, least = ANSWER(its), best(its)
    assert answer.plan is not None and answer.planned is not None and answer.planned.proved
    assert answer.planned.best.nanoseconds == least
    assert all(answer.plan.assignment.of(part.name) == its.given().of(part.name) for part in chain)


def _on(count: int, model: str, seconds: int) -> Measured:
    return Measured(count, seconds * SECOND, "infer", model=model)


def test_a_cost_model_that_has_no_time_of_them_is_named() -> None:
    (told,) = ANSWER(asked_for(Random(1), "rlinf")).findings
    assert told.message.endswith("and the cost model rlinf has no time of them")
    assert told.help.endswith(", or write another `cost_model`")


def test_what_a_framework_takes_is_asked_of_the_ranks_of_the_file() -> None:
    """Where it takes no such count, what an iteration takes at least is told."""
    its = asked_for(Random(1), "stream")
    takes = best(its)
    for count, verdict in ((3, OPTIMAL), (5, UNDECIDED)):
        answer = ANSWER(
            replace(its, job=replace(its.job, planning=replace(its.job.planning, accepted={"rollout": frozenset({(count, UNDIVIDED)})})))
        )
        assert answer.verdict == verdict
        told = answer.planned.best.nanoseconds if answer.planned is not None else least_told(answer)
        assert told == takes


@pytest.mark.parametrize("model", ["stream", "steady", "stages"])
def test_where_others_may_use_them_what_an_iteration_takes_at_least_is_told(model: str) -> None:
    its = with_a_third(asked_for(Random(2), model), (2, 3))
    takes = best(its)
    shared = ANSWER(replace(its, job=replace(its.job, overlaps={"rollout": frozenset({"ref"})})))
    chosen = ANSWER(replace(its, job=replace(its.job, choices={"rollout": (UNDIVIDED, Parallel(tp=3))})))
    assert takes is not None and 0 < least_told(shared) <= takes == least_told(chosen)


def least_told(answer: Answer) -> int:
    """ns that one takes at least, by what is said where nothing is planned."""
    assert answer.verdict == UNDECIDED
    said = re.search(r"one takes at least ([\d.]+) seconds? an iteration", answer.findings[0].message)
    assert said is not None
    return round(float(said[1]) * SECOND)


def test_what_else_is_asked_of_them_holds_of_the_ranks_of_the_file() -> None:
    """Their CPUs are left to nobody else on their node, not on that where they are planned."""
    its = asked_for(Random(1), "stream")
    machines = cluster({"count": 5, "cpus": 6}, {"count": 3, "cpus": 2})
    its = with_parts(its, machines, *(replace(part, cpus=1) for part in its.components))
    answer = ANSWER(its)
    assert answer.plan is not None and answer.plan.assignment.accelerators("ref") <= {(1, 0), (1, 1)}
