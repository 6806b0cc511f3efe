"""The next cheaper answer really needs so many moves: against every Assignment of small problems."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.job import WEIGHTED, Preference
from placewright.models.machines.topology import LEVELS
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.solver.check import check
from placewright.solver.objectives.moves import MoveTerm
from placewright.solver.objectives.tiers import tiers
from placewright.solver.replanning import moves, with_trade
from placewright.solver.searching.search import solve

from .. import parity
from ..cases import cluster, component, problem
from ..parity_cases.near import near


@pytest.mark.slow
def test_the_fewest_moves_to_anything_cheaper() -> None:
    source, traded, none_left = random.Random(2), 0, 0
    for _ in range(25):
        nodes = [{"count": source.choice([1, 2]), "rack": source.choice("ab")} for _ in range(3)]
        first = component("a", source.choice([2, 3]), traffic=source.choice([0, 4]))
        question = problem(cluster(*nodes), first, component("b", 1, traffic=1), component("c", source.choice([0, 1]) + 1))
        every = [a for a in parity.assignments(question) if not any(f.severity is Severity.ERROR for f in check(question, a))]
        if not every:
            continue
        before = Plan(question.cluster, source.choice(every), VERIFIED)
        question = replace(question, previous=before.assignment)
        plan = solve(question).plan
        assert plan is not None
        found = with_trade(question, moves(question, before, plan), plan, solve)
        costs = [(MoveTerm().value(question, a), tuple(tier.value(question, a) for tier in tiers(question)[1:])) for a in every]
        now = tuple(tier.value(question, plan.assignment) for tier in tiers(question)[1:])
        for position in range(len(now)):  # the first cost that can be smaller, with all before it no worse
            better = [m for m, c in costs if c[position] < now[position] and all(x <= y for x, y in zip(c[:position], now))]
            if better:
                assert found.trade is not None
                assert found.trade.moves == min(better)
                assert found.trade.saved > 0
                traded += 1
                break
        else:
            assert found.trade is None
            assert found.no_trade
            none_left += 1
    assert traded >= 3
    assert none_left >= 3


def test_a_component_moves_back_together() -> None:
    where = cluster({"count": 1, "rack": "a"}, {"count": 2, "rack": "b"})
    question = near(problem(where, component("a", 2, traffic=7)), a=(Run(range(0, 1), 0), Run(range(1, 2), 1)))
    before = Plan(where, Assignment(question.previous.runs if question.previous else {}), VERIFIED)
    plan = solve(question).plan
    assert plan is not None
    found = with_trade(question, moves(question, before, plan), plan, solve)
    assert found.trade is not None
    assert (found.moved, found.trade.moves, found.trade.term, found.trade.saved) == (0, 1, "MiB of collectives across racks", 7)


def test_a_cost_of_weight_zero_is_worth_no_move() -> None:
    where = cluster({"count": 1, "rack": "a"}, {"count": 2, "rack": "b"})
    question = near(problem(where, component("a", 2, traffic=7)), a=(Run(range(0, 1), 0), Run(range(1, 2), 1)))
    question = replace(question, job=replace(question.job, preference=Preference(WEIGHTED, dict.fromkeys(LEVELS, 0))))
    before = Plan(where, Assignment(question.previous.runs if question.previous else {}), VERIFIED)
    plan = solve(question).plan
    assert plan is not None
    found = with_trade(question, moves(question, before, plan), plan, solve)
    assert found.trade is None or "MiB" not in found.trade.term
