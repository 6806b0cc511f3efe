"""Sums and first looks are right: what a sum refutes has no answer, what finds room has one."""

from __future__ import annotations

import random

import pytest
from placewright.models.findings.finding import Severity
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit
from placewright.solver.layout.layout import Layout
from placewright.solver.refuting.census import Census, CountingProblem
from placewright.solver.refuting.certificate import MAX_UNIONS, counting_row, shortage
from placewright.solver.refuting.oracle import can_pack
from sampling import examples

from .. import parity
from ..parity_cases.every import CASES
from ..parity_cases.random_problems import random_demands, random_problem
from ..test_search import brute_force


def judged(question: Problem) -> tuple[bool, bool]:
    """(refuted by a sum, found room), both of which must be so. Given ranks that are wrong in themselves are told before."""
    if any(finding.severity is Severity.ERROR for finding in check_explicit(question)):
        return False, False
    census = Census(question)
    row, room = counting_row(question, census), can_pack(CountingProblem(question, census))
    if row is not None or room:
        best = brute_force(question)
        assert best is None or row is None, (question, row)
        assert best is not None or not room, question
    return row is not None, room


def test_on_random_questions() -> None:
    source, refuted, found = random.Random(21), 0, 0
    for _ in range(examples(75)):
        row, room = judged(random_problem(source, most=300))
        refuted, found = refuted + row, found + room
    assert refuted >= 20 and found >= 2


def test_on_random_demands_on_the_topology() -> None:
    source, refuted, found = random.Random(22), 0, 0
    for _ in range(examples(60)):
        row, room = judged(random_demands(source, most=300))
        refuted, found = refuted + row, found + room
    assert refuted >= 7 and found >= 2


@pytest.mark.slow
def test_on_cases_made_by_hand() -> None:
    for question in CASES.values():
        if parity.space(question) <= 5_000:
            judged(question)


def test_a_census_counts_every_node_once() -> None:
    source = random.Random(23)
    for _ in range(40):
        question = random_problem(source, most=2_000)
        census, layout = Census(question), Layout(question)
        assert sum(kind.count for kind in census.kinds) == sum(kind.count for kind in census.placed) == len(question.cluster.nodes)
        for bundle in layout.bundles:
            free = sum(mask.bit_count() // bundle.unit for (_, kind), mask in layout.free.items() if kind == bundle.kind)
            assert sum(census.pieces(bundle.kind, bundle.unit)) == free


def test_where_a_bundle_may_be_is_where_a_layout_lets_it() -> None:
    source = random.Random(25)
    for _ in range(60):
        question = random_demands(source, most=2_000)
        census, layout = Census(question), Layout(question)
        for bundle in layout.searched:
            mask = census.may(bundle.components)
            if not any(
                relation.components[0] == component.name
                for relation in question.find_relations("subset")
                for component in bundle.components
            ):
                assert census.nodes(mask) == len(layout.eligible[bundle])


def capacity(rooms: list[int], mask: int) -> int:
    return sum(room for index, room in enumerate(rooms) if mask >> index & 1)


def test_a_shortage_is_found_exactly_where_there_is_one() -> None:
    source = random.Random(26)
    for _ in range(300):
        rooms = [source.randrange(6) for _ in range(5)]
        needs = {name: source.randrange(8) for name in "abcdef"[: source.choice([2, 4, 6])]}
        may = {name: source.randrange(1, 32) for name in needs}
        short = shortage(needs, may, lambda mask, rooms=rooms: capacity(rooms, mask))  # type: ignore[misc]
        unions = [sum(need for name, need in needs.items() if not may[name] & ~mask) > capacity(rooms, mask) for mask in range(32)]
        assert bool(short) == any(unions)
        if short:
            union = 0
            for name in short:
                union |= may[name]
            assert sum(needs[name] for name in short) > capacity(rooms, union)


def test_with_many_sets_of_nodes_a_shortage_of_two_and_of_all_is_found() -> None:
    names = [f"c{number}" for number in range(MAX_UNIONS + 2)]
    may = {name: 3 << number for number, name in enumerate(names)}
    assert shortage({**dict.fromkeys(names, 1), "c0": 2, "c1": 2}, may, lambda mask: mask.bit_count()) == ["c0", "c1"]
    assert shortage(dict.fromkeys(names, 1), may, lambda mask: min(mask.bit_count(), 9)) == names
