"""The bound stage proves what the solver finds: never more, mostly as much, and always the same."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
from placewright.models.job import Link
from placewright.models.machines.cluster import Cluster
from placewright.models.problem import Problem
from placewright.solver.bounds.stage import BoundStage
from placewright.solver.compile import aim, compile
from placewright.solver.model.engine import Status, narrow, run
from placewright.solver.model.variables import Variables
from placewright.solver.objectives.tiers import aggregates_of, tiers
from sampling import examples

from ..cases import cluster, component, problem


def shared_cluster(seed: int) -> Problem:
    """Six racks of two or three nodes, some accelerators taken, with all kinds of traffic."""
    source = random.Random(seed)
    nodes = [
        {"count": 8, "rack": f"r{rack}", "taken": (1 << source.choice([0, 0, 0, 1, 3, 4])) - 1}
        for rack in range(6)
        for _ in range(source.choice([2, 3]))
    ]
    free = sum(8 - node["taken"].bit_count() for node in nodes)  # type: ignore[attr-defined]
    amount = [int(free * share) // tp * tp for share, tp in ((0.3, 8), (0.25, 4), (0.12, 2))]
    question = problem(
        cluster(*nodes),
        component("a", amount[0], tp=8, traffic=10 * source.choice([1, 1, 7])),
        component("b", amount[1], tp=4),
        component("c", amount[2], tp=2, traffic=5),
        component("d", int(free * 0.1)),
    )
    return replace(question, job=replace(question.job, links=(Link("a", "b", weights=6), Link("b", "d", stream=1))))


def aimed(question: Problem) -> tuple[Variables, BoundStage]:
    """The model of the first tier, and its bound stage."""
    variables, tier = compile(question), tiers(question)[0]
    aim(variables, tier)
    return variables, BoundStage(variables.model, aggregates_of(variables, tier))


@cache
def best(seed: int) -> int:
    outcome = run(aimed(shared_cluster(seed))[0], 20.0, seed=1)
    assert outcome.status is Status.OPTIMAL
    return outcome.objective


@pytest.mark.parametrize("seed", range(examples(3)))
def test_the_bound_grows_to_the_optimum_and_not_beyond(seed: int) -> None:
    stage = aimed(shared_cluster(seed))[1]
    bounds = [stage.bound]
    while stage.is_open and len(bounds) < 40:
        stage.advance(None, 1.0, 10)
        bounds.append(stage.bound)
    assert all(bound is not None and bound <= best(seed) for bound in bounds)
    assert bounds == sorted(bounds)  # type: ignore[type-var]
    assert bounds[-1] == best(seed)


@pytest.mark.parametrize("seed", range(examples(3)))
def test_what_is_not_below_a_known_answer_is_dropped(seed: int) -> None:
    stage = aimed(shared_cluster(seed))[1]
    for _ in range(60):
        stage.advance(best(seed), 1.0, 10)
    assert stage.bound is None or stage.bound >= best(seed)  # proved: nothing is better
    worse = aimed(shared_cluster(seed))[1]
    worse.advance(best(seed) + 1, 60.0, 600)
    assert worse.bound is not None and worse.bound <= best(seed)  # the answer itself is not dropped


@pytest.mark.parametrize("seed", range(examples(3)))
def test_what_open_parts_have_whole_leads_to_good_answers(seed: int) -> None:
    variables, stage = aimed(shared_cluster(seed))
    stage.advance(None, 1.0, 20)
    fixed = stage.likely(2)
    assert all(set(its.values()) <= {0, 1} for its in fixed)
    found = [run(variables, 2.0, seed=1, model=narrow(variables.model, its, 0, 1 << 40)) for its in fixed]
    costs = [outcome.objective for outcome in found if outcome.values is not None]
    assert costs and best(seed) <= min(costs) <= 1.2 * best(seed)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_a_later_tier_grow_to_its_optimum_and_not_beyond(seed: int) -> None:
    """With what the zones decide branched on first, as the search does it."""
    question = shared_cluster(seed)
    nodes = [replace(node, topology={**node.topology, "zone": f"z{node.topology['rack'] > 'r2'}"}) for node in question.cluster.nodes]
    question = replace(question, cluster=Cluster(tuple(nodes)))
    variables, (first, second, *_) = compile(question), tiers(question)
    amount = aim(variables, first)
    variables.at_most(amount, run(variables, 20.0, seed=1).objective)
    aim(variables, second)
    stage = BoundStage(variables.model, aggregates_of(variables, second), aggregates_of(variables, first))
    optimum = run(variables, 20.0, seed=1)
    assert optimum.status is Status.OPTIMAL
    bounds = [stage.bound]
    while stage.is_open and len(bounds) < 40:
        stage.advance(optimum.objective + 1, 1.0, 10)
        bounds.append(stage.bound)
    assert all(bound is not None and bound <= optimum.objective for bound in bounds)
    assert bounds == sorted(bounds) and bounds[-1] >= 0.9 * optimum.objective


def test_the_same_work_and_the_same_bounds_every_time() -> None:
    def path() -> list[tuple[int | None, float, list[dict[int, int]]]]:
        stage, found = aimed(shared_cluster(2))[1], []
        for _ in range(5):
            stage.advance(None, 1.0, 7)
            found.append((stage.bound, stage.spent, stage.likely()))
        return found

    assert path() == path()


def test_a_limit_of_time_or_of_relaxations_ends_it() -> None:
    stage = aimed(shared_cluster(1))[1]
    before = stage.spent
    stage.advance(None, 0.0, 100)
    assert stage.spent == before
    stage.advance(None, 100.0, 0)
    assert stage.spent == before


def test_a_relaxation_that_nothing_satisfies_says_nothing() -> None:
    variables = compile(shared_cluster(1))
    tier = tiers(variables.problem)[0]
    variables.require(aim(variables, tier) <= -1)
    stage = BoundStage(variables.model, aggregates_of(variables, tier))
    assert not stage.is_solved and not stage.is_open and stage.bound is None
