"""Pinned ranges in step are in one order of ranks where they share accelerators; compared with every order of small problems."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Iterator

import pytest
from placewright.models.answer import IMPOSSIBLE
from placewright.models.component import Component, Pin
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment, compress, seats
from placewright.models.placements.plan import OPTIMAL
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check
from placewright.solver.searching.search import solve

from .cases import cluster, component, problem


def solid(name: str, count: int, *pins: Pin, each: int = 1, tp: int = 1) -> Component:
    """A range whose processes may be in any order."""
    return replace(component(name, count, tp=tp), contiguous=True, any_order=True, per_process=each, pins=pins)


def ranks_of(assignment: Assignment, name: str) -> list[tuple[int, int]]:
    """(node, local index) of its accelerators in the order of its ranks."""
    return [seat for _, its in seats(assignment.of(name)) for seat, _, _ in its]


def is_in_order(question: Problem, assignment: Assignment) -> bool:
    """Is every rank of `train` at the same place in the order of `infer`, as far as both are there?"""
    train, infer = ranks_of(assignment, "train"), ranks_of(assignment, "infer")
    first = question.cluster.numbering(("cluster",)).first
    away = min(first[node] + index for node, index in train) - min(first[node] + index for node, index in infer)
    return not set(train) & set(infer) or all(
        infer[place + away] == its for place, its in enumerate(train) if 0 <= place + away < len(infer)
    )


def test_ranks_that_pins_turn_around_are_turned_in_both() -> None:
    pinned = solid("train", 6, Pin(range(0, 2), (1,)))
    question = problem(cluster(*({"count": 4},) * 2), pinned, solid("infer", 6), together="infer+train", in_step="train+infer")
    found = solve(question)
    assert found.plan is not None
    assert found.plan.status == OPTIMAL
    assert is_in_order(question, found.plan.assignment)
    assert ranks_of(found.plan.assignment, "train")[0][0] == 1


def test_pins_that_no_ranges_keep_in_one_order_are_impossible() -> None:
    parts = solid("train", 4, Pin(range(0, 1), (1,))), solid("infer", 4, Pin(range(0, 1), (0,)))
    question = problem(cluster(*({"count": 2},) * 2), *parts, together="infer+train", in_step="train+infer")
    found = solve(question)
    assert found.verdict == IMPOSSIBLE
    alone = replace(question, job=replace(question.job, in_step=frozenset()))
    assert solve(alone).plan is not None


def test_pins_of_a_third_with_the_same_order_of_ranks_are_kept_too() -> None:
    parts = solid("train", 4, Pin(range(0, 1), (1,))), solid("infer", 4), solid("ref", 4, Pin(range(1, 2), (1,)))
    question = problem(cluster(*({"count": 2},) * 2), *parts, together="infer+train", aligned="ref+train", in_step="train+infer")
    found = solve(question)
    assert found.plan is not None
    assert is_in_order(question, found.plan.assignment)
    assert ranks_of(found.plan.assignment, "ref") == ranks_of(found.plan.assignment, "train") == [(1, 0), (1, 1), (0, 0), (0, 1)]


def test_pinned_ranges_of_which_one_is_inside_the_other_are_not_searched() -> None:
    parts = solid("train", 8, Pin(range(0, 2), (1,))), solid("infer", 6)
    question = problem(cluster(*({"count": 4},) * 2), *parts, within="infer+train", in_step="train+infer")
    (finding,) = solve(question).findings
    assert (finding.code, finding.subject) == ("PW604", "train")
    assert finding.message.endswith("train and infer share some accelerators in one order of ranks, and ranks of train are pinned")
    unpinned = solve(replace(question, job=replace(question.job, components=(replace(parts[0], pins=()), parts[1]))))
    assert unpinned.plan is not None and is_in_order(question, unpinned.plan.assignment)


def any_order(random: Random) -> Problem:
    """Few accelerators on two or three nodes, two colocated ranges with pins, and something beside them or in the same order of ranks."""
    nodes = random.choice([(3, 3), (2, 4), (2, 2, 2), (4, 2)])
    each = random.choice([1, 1, 2])
    count = random.choice([its for its in range(2, 6) if its % each == 0])

    def pins(name: str, count: int) -> Iterator[Pin]:
        processes = count // (each if name == "infer" else 1)
        for _ in range(random.choice([0, 1, 1, 2])):
            start = random.randrange(processes)
            stop = random.randint(start + 1, processes)
            yield Pin(range(start, stop), tuple(sorted(random.sample(range(len(nodes)), random.randint(1, len(nodes) - 1)))))

    sizes = {"train": 1, "infer": each}
    parts = [solid(name, count, *pins(name, count), each=size, tp=size) for name, size in sizes.items()]
    if random.random() < 0.4:
        parts.append(component("other", 1))
    kept = {}
    if random.random() < 0.4:
        parts.append(replace(parts[0], name="ref", pins=tuple(pins("train", count))))
        kept["aligned"] = "ref+train"
    return problem(cluster(*({"count": size} for size in nodes)), *parts, together="infer+train", in_step="train+infer", **kept)


def has_one(question: Problem) -> bool:
    """Does any order of ranks in any two ranges keep all that is asked? What is beside them takes any that is left."""
    outer, inner = sorted(question.components[:2], key=lambda its: -its.least)
    others = [each.name for each in question.components[2:]]
    ids = [(node.rank, index) for node in question.cluster.nodes for index in range(len(node.accelerators))]
    for first in range(len(ids) - outer.least + 1):
        for order in permutations(ids[first : first + outer.least]):
            for before in range(outer.least - inner.least + 1):
                its = order[before : before + inner.least]
                if sorted(its) != ids[first + before : first + before + inner.least]:
                    continue
                left = [seat for seat in ids if seat not in order]
                if "other" in others and not left:
                    continue
                runs = {outer.name: runs_of(outer, order), inner.name: runs_of(inner, its)}
                runs |= {name: runs[outer.name] if name == "ref" else compress([(0, left[:1])]) for name in others}
                if not any(each.severity is Severity.ERROR for each in check(question, Assignment(runs))):
                    return True
    return False


def runs_of(part: Component, order: tuple[tuple[int, int], ...]) -> tuple[Run, ...]:
    size = part.per_process
    return compress((rank, order[rank * size : (rank + 1) * size]) for rank in range(len(order) // size))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_it_is_found_where_any_order_keeps_all(seed: int) -> None:
    random = Random(seed)
    for _ in range(5):
        question = replace(any_order(random), explained=False)
        found = solve(question)
        if found.plan is not None:
            assert is_in_order(question, found.plan.assignment)
            assert not any(each.severity is Severity.ERROR for each in check(question, found.plan.assignment))
        else:
            assert found.verdict == IMPOSSIBLE, (question, found)
            assert not has_one(question), question
