"""Open components around given ones, compared with every placement of small problems."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import Component
from placewright.models.estimate import MemoryInput
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import OPTIMAL
from placewright.models.problem import Problem
from placewright.solver.objectives.tiers import tiers
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem
from .every_placement import decided, every_placement, holds, on

NODES = cluster({"count": 4}, {"count": 4})


def seats(problem: Problem, name: str, assignment: Assignment) -> list[tuple[int, int]]:
    return sorted((run.node, index) for run in assignment.of(name) for rank in run.ranks for index in run.list_held(rank))


def test_the_rest_lies_beside_what_is_given() -> None:
    question = problem(NODES, component("a", 6), on("b", (0, 3)), within="b+a")
    answer = solve(question)
    assert answer.plan is not None and answer.verdict == answer.plan.status == OPTIMAL
    found = seats(question, "a", answer.plan.assignment)
    assert len(found) == len(set(found)) == 6 and (0, 3) in found
    assert [run.ranks for run in answer.plan.assignment.of("a")] == [range(4), range(4, 6)]


def test_groups_are_whole_on_each_node_with_what_is_given() -> None:
    question = problem(NODES, component("a", 6, tp=2), on("b", (0, 3), (1, 1)), on("c", (0, 1)), within="b+a")
    answer = solve(question)
    assert answer.plan is not None
    found = seats(question, "a", answer.plan.assignment)
    assert {(0, 3), (1, 1)} < set(found) and (0, 1) not in found
    assert {node: sum(rank == node for rank, _ in found) for node in (0, 1)} == {0: 2, 1: 4}


def test_where_no_node_has_room_for_a_whole_group_nothing_is_possible() -> None:
    full = on("c", (0, 0), (0, 1), (0, 2))
    answer = solve(problem(NODES, component("a", 2, tp=2), on("b", (0, 3)), full, within="b+a"))
    assert answer.verdict == IMPOSSIBLE
    (finding,) = answer.findings
    assert finding.message == "impossible: a holds groups of 2: around b it lacks 1 on node 0, where 0 are free"


def test_more_within_it_than_it_may_have_is_impossible() -> None:
    (finding,) = solve(problem(NODES, component("a", 2, tp=2), on("b", (0, 3), (1, 0)), within="b+a")).findings
    assert finding.message == "impossible: a has at least 4 accelerators in groups of 2 around b, and at most 2 are asked for"


def test_memory_counts_where_both_are() -> None:
    small = cluster({"count": 2, "gib": 80})
    assert solve(problem(small, component("a", 2, gib=40), on("b", (0, 0), gib=40), within="b+a")).plan is not None
    assert solve(problem(small, component("a", 2, gib=50), on("b", (0, 0), gib=40), within="b+a")).verdict == IMPOSSIBLE


def test_one_inside_another_around_what_is_given() -> None:
    question = problem(NODES, component("a", 7), component("m", 4), on("b", (1, 2)), within="b+m m+a")
    answer = solve(question)
    assert answer.plan is not None
    outer, inner = (set(seats(question, name, answer.plan.assignment)) for name in ("a", "m"))
    assert (1, 2) in inner < outer and (len(inner), len(outer)) == (4, 7)


def test_one_inside_may_use_what_a_whole_group_needs_beside_what_is_given() -> None:
    """Both are where the other is, in one group of two."""
    question = problem(cluster({"count": 2}), component("a", 2, tp=2), component("m", 2), on("b", (0, 0)), within="b+m m+a")
    answer = solve(question)
    assert answer.plan is not None
    assert all(seats(question, name, answer.plan.assignment) == [(0, 0), (0, 1)] for name in ("a", "m"))


def test_what_holds_of_all_of_it_holds_of_no_part() -> None:
    """Four ranks are two groups of shards; three of them beside what is given are not."""
    question = problem(NODES, component("a", 4, estimate=MemoryInput(sharding="fsdp", shards=2)), on("b", (0, 3)), within="b+a")
    assert solve(question).plan is not None


@pytest.mark.parametrize(("tp", "count", "is_placed"), [(1, 1, True), (1, 2, False), (2, 2, False)])
def test_what_lies_beside_inside_may_use_it_too(tp: int, count: int, is_placed: bool) -> None:
    question = problem(cluster({"count": 2}), component("a", 2, tp=2), component("m", count, tp=tp), on("b", (0, 0)), within="b+a m+a")
    answer = solve(question)
    assert (answer.plan is not None) == is_placed and (is_placed or answer.verdict == IMPOSSIBLE)


def test_what_traffic_there_is_at_least_is_proved() -> None:
    racks = cluster({"count": 4, "rack": "r"}, {"count": 4, "rack": "s"})
    five = problem(racks, replace(component("a", 5), traffic=10), on("b", (0, 3)), within="b+a")
    answer = solve(five)
    assert answer.plan is not None and answer.plan.status == OPTIMAL
    assert [(term.value, term.bound) for term in answer.plan.terms if term.value] == [(10, 10)]
    apart = on("c", (0, 0), (0, 1))
    three = problem(racks, replace(component("a", 3), traffic=10), on("b", (0, 3)), apart, within="b+a")
    answer = solve(three)
    assert answer.plan is not None and answer.plan.status == OPTIMAL
    assert [(term.value, term.bound) for term in answer.plan.terms if term.value] == [(10, 10)]


def test_what_is_searched_around_given_ranks_has_none_of_others_that_may_share_with_these() -> None:
    """`c` may share with `b`, as both are given; `a` is around `b` alone."""
    parts = component("a", 2, tp=2), on("b", (0, 0)), on("c", (0, 1))
    question = problem(cluster({"count": 2}), *parts, within="b+a", shares=True)
    assert not any(holds(question, each) for each in every_placement(question))
    assert solve(question).verdict == IMPOSSIBLE


def test_ranks_within_two_that_share_nothing_are_impossible() -> None:
    assert solve(problem(NODES, component("a", 3), component("m", 3), on("b", (0, 0)), within="b+a b+m")).verdict == IMPOSSIBLE


def test_a_replan_keeps_groups_around_what_is_given() -> None:
    question = problem(NODES, component("a", 4, tp=2), on("b", (0, 3)), within="b+a")
    before = solve(question).plan
    assert before is not None
    lost = replace(question, cluster=cluster({"count": 4}, {"count": 4, "taken": 1}, {"count": 4}), previous=before.assignment)
    again = solve(lost).plan
    assert again is not None and again.assignment == before.assignment
    assert next(term for term in again.terms if term.name == "groups moved").value == 0


@pytest.mark.parametrize("any_order", [False, True])
def test_a_range_around_what_is_given_is_tried(any_order: bool) -> None:
    question = problem(NODES, component("a", 6, contiguous=True, any_order=any_order), on("b", (0, 3)), within="b+a")
    answer = solve(question)
    assert answer.plan is not None and holds(question, answer.plan.assignment)


def question_of(seed: int) -> Problem:
    """A small problem with given components inside of open ones, and other relations, memory and phases beside."""
    random = Random(seed)
    sizes = random.choice([(4,), (2, 2), (3, 2), (2, 3), (1, 2, 2)])
    where = cluster(*({"count": count, "gib": 80, "rack": random.choice("rs")} for count in sizes))
    every = [(node, index) for node, count in enumerate(sizes) for index in range(count)]
    random.shuffle(every)

    def asked(name: str) -> Component:
        tp = random.choice((1, 1, 1, 2))
        least = tp * random.choice((1, 1, 2))
        most = random.choice((least, least, len(every)))
        turn = {"phases": (random.choice("xy"),), "offloaded": random.choice((0, 5 * 1024))} if random.random() < 0.3 else {}
        away = (random.randrange(len(sizes)),) if random.random() < 0.15 and len(sizes) > 1 else ()
        each = component(name, least, max(least, most), tp=tp, gib=random.choice((0, 0, 10, 50)), excluded=away, **turn)
        return replace(each, traffic=random.choice((0, 0, 10)))

    parts = [asked("a")]
    parts += [asked("m")] if random.random() < 0.6 else []
    taken = [every.pop() for _ in range(random.choice((1, 1, 2)))]
    parts.append(on("b", *taken, gib=random.choice((0, 0, 10, 40))))
    if random.random() < 0.5:
        parts.append(on("c", every.pop(), gib=random.choice((0, 40))))
    names = {each.name for each in parts}
    words = {"within": ["b+a"]}
    for one, other in combinations(sorted(names), 2):
        if (one, other) != ("a", "b") and random.random() < 0.45:
            word = random.choice(("within", "within", "within", "apart", "together", "away", "aligned"))
            pair = random.choice((f"{one}+{other}", f"{other}+{one}")) + (f"@{random.choice(('rack', 'node'))}" if word == "away" else "")
            words.setdefault(word, []).append(pair)
    return problem(where, *parts, **{word: " ".join(pairs) for word, pairs in words.items()})


def cost(question: Problem, assignment: Assignment) -> int:
    return sum(tier.scale * tier.value(question, assignment) for tier in tiers(question))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 200, 50))
def test_as_every_placement_says(start: int) -> None:
    """All are decided; of every third that is possible the placement is compared with all others."""
    seen = Counter[str]()
    for seed in range(start, start + 50):
        question = question_of(seed)
        answer = decided(question, seed)
        seen[answer.verdict] += 1
        if answer.plan is not None:
            assert cost(question, answer.plan.assignment) == answer.plan.objective, seed
            if seed % 3 == 0 and answer.plan.objective:
                least = min(cost(question, each) for each in every_placement(question) if holds(question, each))
                assert answer.plan.objective == least, seed
    assert seen[OPTIMAL] >= 12 and seen[IMPOSSIBLE] >= 5 and set(seen) == {OPTIMAL, IMPOSSIBLE}, seen
