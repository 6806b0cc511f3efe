"""Every statement about where something is was computed: against every Assignment of small problems."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.machines.topology import domain
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.reasons import ALL, FULL, MORE, OUT, SMALL
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.objectives.tiers import tiers
from placewright.solver.place_reasons import why_accelerator, why_component
from placewright.solver.searching.search import solve

from .. import parity
from ..cases import cluster, component, given, problem
from ..parity_cases.near import single


def good(question: Problem) -> list[Assignment]:
    return [a for a in parity.assignments(question) if not any(f.severity is Severity.ERROR for f in check(question, a))]


def best(question: Problem) -> dict[str, int] | None:
    """The terms of the best answer."""
    every = good(question)
    if not every:
        return None
    found = min(every, key=lambda a: tuple(tier.value(question, a) for tier in tiers(question)))
    return {term.name: term.value(question, found) for tier in tiers(question) for term, _ in tier.members}


RACKS = cluster(
    {"count": 2, "rack": "a", "gib": 80}, {"count": 2, "rack": "b", "gib": 40}, {"count": 2, "rack": "c", "gib": 80, "taken": 1}
)  # fmt: skip
QUESTION = problem(RACKS, component("a", 1, gib=60), component("b", 2, gib=20, traffic=3), component("c", 1, gib=20, excluded=(1,)))


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_where_a_component_may_be_is_where_a_group_of_it_alone_finds_a_place(name: str) -> None:
    plan = solve(QUESTION).plan
    assert plan is not None
    why = why_component(QUESTION, plan, name, solve)
    its = QUESTION[name]
    alone = problem(RACKS, replace(its, least=its.group_size, most=its.group_size))
    nodes = {run.node for assignment in good(alone) for run in assignment.of(name)}
    assert why.may == (len(nodes), 3)
    assert sum(count for _, count in why.barred) == 3 - len(nodes)
    assert set(why.possible) == {domain(RACKS.nodes[node], "rack") for node in nodes}


def test_the_rules_that_keep_a_component_off() -> None:
    wide = problem(RACKS, component("a", 2, tp=2, gib=60), component("c", 1, excluded=(1,)))
    plan = solve(wide).plan
    assert plan is not None
    assert dict(why_component(wide, plan, "a", solve).barred) == {"PW501": 1, "PW201": 1}  # memory; another job
    assert dict(why_component(wide, plan, "c", solve).barred) == {"PW303": 1}


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_what_it_would_cost_without_a_domain_is_what_the_best_answer_without_it_costs(name: str) -> None:
    plan = solve(QUESTION).plan
    assert plan is not None
    now = {term.name: term.value for term in plan.terms}
    for each in why_component(QUESTION, plan, name, solve).without:
        gone = [node.rank for node in RACKS.nodes if domain(node, "rack") == each.domain]
        changed = [replace(c, excluded=(*c.excluded, *gone)) if c.name == name else c for c in QUESTION.components]
        then = best(replace(QUESTION, job=replace(QUESTION.job, components=tuple(changed))))
        if then is None:
            assert each.verdict == "impossible"
        else:
            assert {term: (a, b) for term, a, b in each.changes} == {t: (now[t], then[t]) for t in now if now[t] != then[t]}


def test_a_given_component_was_not_placed_by_anybody() -> None:
    question = problem(RACKS, given("g", single(0, 0, 1)), component("b", 1))
    plan = solve(question).plan
    assert plan is not None
    why = why_component(question, plan, "g", solve)
    assert why.given
    assert why.held == (("a", 1),)
    assert why.without == ()


def test_every_accelerator_has_its_holder_or_a_reason_for_each_component() -> None:
    source = random.Random(4)
    for _ in range(6):
        sizes = [source.choice([1, 2, 3]) for _ in range(2)]
        where = cluster(*({"count": count, "taken": source.choice([0, 0, 1]), "gib": source.choice([40, 80])} for count in sizes))
        question = problem(where, component("a", 1, 2, gib=source.choice([0, 60])), component("b", 2, tp=2))
        plan = solve(question).plan
        if plan is None:
            continue
        for node in where.nodes:
            for index in range(len(node.accelerators)):
                why = why_accelerator(question, plan, node.rank, index)
                held = [n for n in ("a", "b") for run in plan.assignment.of(n) if run.node == node.rank and run.mask >> index & 1]
                assert [name for name, _ in why.holders] == held
                assert why.taken == bool(node.taken >> index & 1)
                assert {reason.component for reason in why.rejected} == {"a", "b"} - set(held)
                for reason in why.rejected:
                    is_right(question, plan.assignment, node.rank, reason.component, reason.why, why.idle)


def is_right(question: Problem, answer: Assignment, node: int, name: str, why: str, idle: int) -> None:
    its = question[name]
    alone = problem(question.cluster, replace(its, least=its.group_size, most=its.group_size))
    may = any(run.node == node for assignment in good(alone) for run in assignment.of(name))
    assert (why == OUT) == (not may)
    if why == ALL:
        assert answer.amount(name) + its.group_size > its.most
    if why == SMALL:
        assert idle < its.group_size
    if why in (FULL, MORE):
        assert answer.amount(name) + its.group_size <= its.most
    if why == MORE:
        assert idle >= its.group_size
