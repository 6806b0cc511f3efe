"""Alternatives really differ, come in order, and are the best of their structure: against every Assignment of small problems."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from placewright.models.component import Parallel
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment
from placewright.models.problem import Problem
from placewright.solver.alternatives import alternatives
from placewright.solver.check import check
from placewright.solver.objectives.tiers import tiers
from placewright.solver.searching.search import solve
from placewright.solver.structure import kinds, level_of, structure_of

from .. import parity
from ..cases import cluster, component, problem


def costs(question: Problem, assignment: Assignment) -> tuple[int, ...]:
    return tuple(tier.value(question, assignment) for tier in tiers(question))


def best_of_each(question: Problem) -> list[tuple[int, ...]]:
    """What the best answer of each structure costs, ascending."""
    best: dict[object, tuple[int, ...]] = {}
    for assignment in parity.assignments(question):
        if not any(finding.severity is Severity.ERROR for finding in check(question, assignment)):
            structure = structure_of(question, assignment)
            best[structure] = min(best.get(structure, costs(question, assignment)), costs(question, assignment))
    return sorted(best.values())


def agrees_with_brute_force(question: Problem, count: int) -> int:
    expected = best_of_each(question)
    if not expected:
        return 0
    plan = solve(question).plan
    assert plan is not None
    found = alternatives(question, plan, count, solve)
    structures = [structure_of(question, each.plan.assignment) for each in found.found]
    assert len(set(structures)) == len(structures)
    assert [costs(question, each.plan.assignment) for each in found.found] == expected[:count]
    assert found.complete == (len(expected) < count)
    for each in found.found[1:]:
        assert bool(each.loss) == (costs(question, each.plan.assignment) > expected[0])
        assert each.differs
        if each.loss:
            assert each.loss.value > each.loss.best
    return len(found.found)


RACKS = cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}, {"count": 3, "rack": "c"})
CASES = {
    "racks of several kinds": problem(RACKS, component("a", 2, traffic=5), component("b", 2)),
    "a range": problem(cluster({"count": 2, "rack": "a"}, {"count": 2, "rack": "b"}), component("a", 1, 3)),
    "nothing to choose": problem(cluster({"count": 2}), component("a", 2)),
    "a contiguous one": problem(cluster(*({"count": 2, "rack": rack} for rack in "abc")), component("a", 3, contiguous=True)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_structure_once_and_the_best_first(name: str) -> None:
    assert agrees_with_brute_force(CASES[name], 6) >= 1


def test_random_problems() -> None:
    source, several = random.Random(9), 0
    for _ in range(12):
        nodes = [{"count": source.choice([1, 2, 2]), "rack": source.choice("abc"), "gib": source.choice([40, 80])} for _ in range(3)]
        size = source.choice([1, 2])
        first = component("a", size, size + source.choice([0, 1]), gib=source.choice([0, 50]), contiguous=source.random() < 0.3)
        several += agrees_with_brute_force(problem(cluster(*nodes), first, component("b", source.choice([1, 2]))), 3) > 1
    assert several >= 6


def test_degrees_are_a_structure_too() -> None:
    question = problem(cluster({"count": 4}), component("a", 4, tp=4))
    question = replace(question, job=replace(question.job, choices={"a": (Parallel(4), Parallel(2))}))
    plan = solve(question).plan
    assert plan is not None
    found = alternatives(question, plan, 3, solve)
    assert [each.plan.degrees["a"] for each in found.found] == [Parallel(4), Parallel(2)]
    assert found.complete
    assert found.found[1].loss is None  # as good


def test_racks_that_are_like_each_other_are_one_kind() -> None:
    question = CASES["racks of several kinds"]
    assert level_of(question) == "rack"
    assert kinds(question, "rack") == {"a": ("a", "b"), "c": ("c",)}
    alike = problem(cluster(*({"count": 2, "rack": rack} for rack in "aabb")), component("a", 2))
    assert kinds(alike, "rack") == {"a": ("a", "b")}
    plan = solve(alike).plan
    assert plan is not None
    assert len(alternatives(alike, plan, 5, solve).found) == 2  # one rack or two, whichever
