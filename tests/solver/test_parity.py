"""Encode and check of every rule accept the same placements: exhaustively, on tiny problems, in both directions."""

from __future__ import annotations

import random
from collections import Counter
from typing import Callable

import pytest
from placewright.models.component import Component
from placewright.models.model_cards import ModelUse
from placewright.models.placements.assignment import Run, compress
from placewright.models.problem import Problem
from placewright.solver.searching.refused.not_searched import not_searched

from . import parity
from .cases import cluster, component, given, heads, problem, share
from .clusters import FIVE, LARGE, MIXED, MODELS, ROBOTS, SAME, TWO
from .demand_cases import DEMAND_CASES
from .enumerated import can_be_enumerated
from .kept_cases import KEPT_CASES, with_keeps
from .near_cases import NEAR_CASES
from .random_demands import with_demands
from .rank_cases import RANK_CASES
from .relation_cases import RELATION_CASES
from .step_cases import STEP_CASES

CASES: dict[str, Problem] = {
    "alone": problem(FIVE, component("a", 2)),
    "two groups in one cell": problem(cluster({"count": 3}, {"count": 3}), component("a", 4, tp=2)),
    "sizes of a chain": problem(TWO, component("a", 2, tp=2), component("b", 2)),
    "sizes that are no chain": problem(cluster({"count": 4}, {"count": 3}), component("a", 2, tp=2), component("b", 3, tp=3)),
    "no chain and tight": problem(cluster({"count": 4}, {"count": 3}), component("a", 2, tp=2), component("b", 6, tp=3)),
    "memory": problem(MIXED, component("a", 2, gib=60), component("b", 2, tp=2, gib=30)),
    "memory at its limit": problem(MIXED, component("a", 1, gib=40), component("b", 1, gib=40), component("c", 1, gib=41), together="a+b"),
    "phases take turns": problem(
        MIXED,
        component("a", 1, gib=50, phases=("train",)),
        component("b", 1, gib=50, phases=("generate",)),
        component("c", 1, gib=30),
        together="a+b c+a",
    ),
    "node group": problem(MIXED, component("a", 2, node_groups=("big",)), component("b", 2, tp=2)),
    "two node groups": problem(MIXED, component("a", 3, node_groups=("big", "end")), component("b", 1, node_groups=("end",))),
    "colocated": problem(MIXED, component("a", 2, tp=2, gib=30), component("b", 2, gib=20), together="b+a"),
    "colocated, unequal": problem(TWO, component("a", 2, tp=2), component("b", 1), together="b+a"),
    "colocated and disjoint": problem(TWO, component("a", 1), component("b", 1), together="b+a", apart="a+b"),
    "disjoint": problem(TWO, component("a", 2), component("b", 2), apart="a+b"),
    "model": problem(MODELS, component("a", 2, accelerator_model="H100"), component("b", 2, tp=2)),
    "range": problem(FIVE, component("a", 1, 2), component("b", 2, 4, tp=2)),
    "range, colocated": problem(FIVE, component("a", 2, 4, tp=2), component("b", 2, 3), together="b+a"),
    "whole replicas": problem(FIVE, component("a", 2, 3, pp=2), component("b", 1, 2)),
    "whole replicas of tp groups": problem(LARGE, component("a", 4, 7, tp=2, pp=2)),
    "processes of several accelerators": problem(TWO, component("a", 2, 4, per_process=2), component("b", 1)),
    "processes inside tp groups": problem(LARGE, component("a", 4, tp=4, per_process=2), component("b", 2)),
    "processes around tp groups": problem(LARGE, component("a", 3, 6, tp=1, per_process=3)),
    "contiguous": problem(MIXED, component("a", 3, contiguous=True), component("b", 2, tp=2)),
    "contiguous, a range of amounts": problem(TWO, component("a", 2, 4, contiguous=True), component("b", 1)),
    "contiguous, two": problem(FIVE, component("a", 2, contiguous=True), component("b", 2, contiguous=True), component("c", 1)),
    "contiguous, tp": problem(FIVE, component("a", 4, tp=2, contiguous=True), component("b", 1)),
    "contiguous beside taken": problem(
        cluster({"count": 4, "rack": "a", "taken": 0b0010}, {"count": 3, "rack": "b", "taken": 0b001}),
        component("a", 2, contiguous=True),
        component("b", 2, tp=2),
    ),
    "contiguous in overlapping numberings": problem(
        SAME, component("a", 3, contiguous=True, node_groups=("odd",)), component("b", 2, contiguous=True)
    ),
    "contiguous and colocated": problem(
        cluster({"count": 4}, {"count": 2}), component("a", 4, tp=4, contiguous=True), component("b", 4, tp=2), together="b+a"
    ),
    "strided": problem(cluster({"count": 5}, {"count": 4}), component("a", 4, tp=2, contiguous=True, stride=2)),
    "strided, single": problem(LARGE, component("a", 2, contiguous=True, stride=2), component("b", 2)),
    "given": problem(TWO, given("a", Run(range(2), 0, first=1)), component("b", 2), component("c", 2), together="b+a"),
    "given, uneven": problem(
        TWO, given("a", Run(range(1), 0, first=1), Run(range(1, 2), 1, first=1)), component("b", 2, tp=2), together="b+a"
    ),
    "given beside contiguous": problem(
        TWO, given("a", Run(range(1), 0, first=1)), component("c", 2, contiguous=True), component("d", 2, tp=2)
    ),
    "given in pieces, contiguous": problem(
        TWO, given("a", Run(range(1), 0), Run(range(1, 2), 0, first=2)), component("b", 2, contiguous=True), together="b+a"
    ),
    "given, strided": problem(LARGE, given("a", Run(range(4), 0)), component("b", 4, tp=2, contiguous=True, stride=2), together="b+a"),
    "given together, disjoint": problem(
        TWO, given("a", Run(range(1), 0)), given("b", Run(range(1), 0)), component("c", 1), apart="a+b", shares=True
    ),
    "given apart, colocated": problem(
        TWO, given("a", Run(range(1), 0)), given("b", Run(range(1), 0, first=1)), component("c", 1), together="a+b", shares=True
    ),
    "given too large for the memory": problem(
        MIXED,
        given("a", Run(range(1), 0), memory=30 * 1024),
        given("b", Run(range(1), 0), memory=30 * 1024),
        component("c", 1),
        shares=True,
    ),
    "given that fits the memory": problem(
        MIXED,
        given("a", Run(range(1), 1), memory=30 * 1024),
        given("b", Run(range(1), 1), memory=30 * 1024),
        component("c", 1),
        shares=True,
    ),
    "given in the wrong group": problem(MIXED, given("a", Run(range(1), 0), node_groups=("end",)), component("b", 1)),
    "nodes in order": problem(
        cluster({"count": 1}, {"count": 2}, {"count": 2}, outer=(0, 2), inner=(1,)),
        component("a", 2, 3, contiguous=True, node_groups=("outer", "inner")),
        component("b", 1),
        in_order=True,
    ),
    "groups in the order of their nodes": problem(
        cluster({"count": 2}, {"count": 3}, late=(1,), early=(0,)),
        component("a", 2, 5, contiguous=True, node_groups=("late", "early")),
        in_order=True,
    ),
    "single ones in blocks": problem(cluster({"count": 4}, {"count": 1}), component("a", 1, 5, contiguous=True, stride=2)),
    "nodes in order, given": problem(
        cluster({"count": 2}, {"count": 2}, late=(1,), early=(0,)),
        given("a", Run(range(1), 0), Run(range(1, 2), 1, first=1)),
        component("b", 2, contiguous=True, node_groups=("late", "early")),
        together="b+a",
        in_order=True,
    ),
    "robots": problem(
        ROBOTS, component("env", 2, node_groups=("robots",)), component("a", 2, tp=2), component("agent", 3, node_groups=("node",))
    ),
    "replicas in one node": problem(LARGE, component("a", 3, 6, tp=1, pp=3, role="rollout"), component("b", 1), whole=True),
    "replicas in one node, of tp groups": problem(
        cluster({"count": 4}, {"count": 3}), component("a", 4, tp=2, pp=2, role="rollout"), component("b", 2, tp=2), whole=True
    ),
    "replicas in one node, colocated": problem(
        FIVE, component("a", 2, 4, role="actor"), component("b", 2, 4, tp=1, pp=2, role="rollout"), together="b+a", whole=True
    ),
    "replicas in one node, contiguous": problem(
        FIVE, component("a", 2, 4, pp=2, contiguous=True, role="rollout"), component("b", 1), whole=True
    ),
    "given, replicas over nodes": problem(
        TWO,
        given("a", Run(range(1), 0, first=1), Run(range(1, 2), 1, first=1)),
        component("b", 2, pp=2, role="rollout"),
        together="b+a",
        whole=True,
    ),
    "given, replicas on whole nodes": problem(
        TWO,
        given("a", Run(range(2), 0), Run(range(2, 4), 1), parallel=component("a", 4, pp=4).parallel, role="rollout"),
        component("b", 1),
        whole=True,
    ),
    "heads of a model": problem(FIVE, component("a", 2, 4, tp=2), models={"a": heads(3)}),
    "heads of a model that divide": problem(FIVE, component("a", 2, 4, tp=2), models={"a": heads(4, 1)}),
    "heads of a model that is assumed": problem(FIVE, component("a", 2, 4, tp=2), models={"a": heads(3, assumed=True)}),
    "CPUs": problem(
        cluster({"count": 3, "cpus": 4}, {"count": 3}, {"count": 1, "cpus": 9}), component("a", 2, 4, cpus=3), component("b", 2)
    ),
    "CPUs of processes": problem(
        cluster({"count": 4, "cpus": 5}, {"count": 2, "cpus": 3}),
        component("a", 2, 4, per_process=2, cpus=2),
        component("b", 1, 2, cpus=1),
        component("agent", 2, node_groups=("node",), cpus=1),
    ),
    "CPUs of fused processes": problem(
        cluster({"count": 3, "cpus": 4}, {"count": 2, "cpus": 9}),
        component("a", 2, 3, cpus=2),
        component("b", 2, 3, cpus=1),
        together="b+a",
    ),
    "CPUs beside given": problem(
        cluster({"count": 3, "cpus": 4}, {"count": 2, "cpus": 2}), given("a", Run(range(2), 0), cpus=1), component("b", 1, 2, cpus=2)
    ),
    "CPUs, contiguous": problem(
        cluster({"count": 3, "cpus": 4}, {"count": 2, "cpus": 9}), component("a", 2, 3, cpus=2, contiguous=True), component("b", 1, cpus=1)
    ),
    **RELATION_CASES,
    **STEP_CASES,
    **KEPT_CASES,
    **RANK_CASES,
    **DEMAND_CASES,
    **NEAR_CASES,
    "robots, too many": problem(ROBOTS, component("env", 3, 4, node_groups=("robots",)), component("a", 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_both_faces_of_every_rule_accept_the_same(name: str) -> None:
    counts = parity.compare(CASES[name])
    assert counts["assignments"] >= 1


def random_problem(source: random.Random, most: int = 2_500) -> Problem:
    """A problem with at most `most` Assignments; limits hit capacities often (30 + 50 = 80 GiB)."""
    while True:
        nodes = [
            {
                "count": source.choice([1, 2, 3, 4, 4]),
                "rack": source.choice("ab"),
                "gib": source.choice([40, 80]),
                "model": source.choice(["X", "X", "Y"]),
            }
            for _ in range(source.choice([2, 2, 3]))
        ]
        for each in nodes:
            each["cpus"] = source.choice([None, 2, 3, 8])
            each["taken"] = source.choice([0, 0, 0, 0, 1, 2]) & ((1 << each["count"]) - 1)
        where = cluster(*nodes, g=tuple(sorted(source.sample(range(len(nodes)), source.choice([1, 2])))))
        components, pairs, dealt = list[Component](), dict.fromkeys(("together", "apart", "within", "either", "not_fewer"), ""), []
        models: dict[str, ModelUse] = {}
        if source.random() < 0.25:
            free = [(rank, i) for rank, each in enumerate(nodes) for i in range(each["count"]) if not each["taken"] >> i & 1]
            held = sorted(source.sample(free, min(len(free), source.choice([1, 2, 3]))))
            components.append(given("g", *compress(enumerate([seat] for seat in held)), memory=source.choice([0, 0, 30]) * 1024))
        for name in "abc"[: source.choice([1, 1, 2, 2, 3])]:
            tp, contiguous = source.choice([1, 1, 2, 2, 3]), source.random() < 0.4
            stride = source.choice([1, 1, 1, 2]) if contiguous else 1
            each = source.choice([1, tp])
            least = tp * stride * source.choice([1, 1, 2])
            components.append(
                component(
                    name, least, least + source.choice([0, 0, 0, 1, tp]), tp=tp, pp=source.choice([1, 1, 1, 2]), gib=source.choice([0, 0, 30, 40, 50]),
                    phases=source.choice([(), (), ("p",), ("p", "q")]), per_process=each, contiguous=contiguous, stride=stride,
                    node_groups=source.choice([("cluster",), ("cluster",), ("g",)]), accelerator_model=source.choice(["", "", "", "X"]),
                    cpus=source.choice([0, 0, 0, 1, 2]), role=source.choice(["", "rollout"]),
                )
            )  # fmt: skip
            if len(components) > 1 and (
                kind := source.choice(["together", "apart", "within", "within", "either", "not_fewer", "", "", "", ""])
            ):
                pairs[kind] += f" {name}+{components[0].name}"
            if tp > 1 and source.random() < 0.2:
                models[name] = heads(source.choice([4, 6]), source.choice([0, 1, 2, 4]), source.random() < 0.2)
            if source.random() < 0.2:
                dealt.append(share(name, source.choice([4, 6, 8]), source.choice([1, 1, 2])))
        in_sequence = " ".join(each.name for each in components) if source.random() < 0.05 else ""
        found = problem(
            where,
            *components,
            in_sequence=in_sequence,
            shares=True,
            dealt=tuple(dealt),
            whole=source.random() < 0.3,
            models=models,
            **pairs,
        )
        ranged = [{c.node_groups for c in members if c.contiguous} for members in found.colocated_sets]
        if all(len(groups) <= 1 for groups in ranged) and parity.space(found) <= most and not not_searched(found):
            return found


def random_demands(source: random.Random, most: int = 1_000) -> Problem:
    """A problem with demands on the topology, of at most so many Assignments."""
    while True:
        found = with_demands(source, random_problem(source, most))
        if parity.space(found) <= most and not not_searched(found):
            return found


def random_keeps(source: random.Random, most: int = 1_500) -> Problem:
    """A problem about what is kept together, of at most so many Assignments."""
    while True:
        found = with_keeps(source, random_problem(source, most))
        if can_be_enumerated(found) and parity.space(found) <= most and not not_searched(found):
            return found


Make = Callable[[random.Random], Problem]


def compare_random(count: int, seed: int, make: Make = random_problem) -> Counter[str]:
    """The theorems on `count` random problems."""
    source, counts = random.Random(seed), Counter[str]()
    for number in range(count):
        found = make(source)
        try:
            counts += parity.compare(found)
        except AssertionError as difference:
            raise AssertionError(f"problem {number} of seed {seed}: {found}\n{difference}") from None
        counts["problems"] += 1
    return counts


EXERCISED: dict[Make, tuple[int, int, tuple[str, ...]]] = {
    random_problem: (150, 7, (
        "PW201", "PW202", "PW203", "PW204", "PW205", "PW206", "PW207", "PW208", "PW209", "PW211", "PW212", "PW213", "PW214",
        "PW301", "PW302", "PW401", "PW402", "PW404", "PW501", "PW502",
    )),
    random_demands: (70, 8, ("PW303", "PW304", "PW305", "PW306", "PW307", "PW501", "PW502", "PW503")),
    random_keeps: (80, 9, ("PW218",)),
}  # fmt: skip
"""What makes random problems -> how many of them, the seed, and the rules that they are there for."""


@pytest.mark.parametrize("make", EXERCISED, ids=lambda make: make.__name__)
def test_random_problems_agree_and_exercise_the_rules(make: Make, record_property: pytest.RecordProperty) -> None:
    count, seed, codes = EXERCISED[make]
    counts = compare_random(count, seed, make)
    record_property("parity", dict(counts))
    for code in codes:
        packs = next(rule.packs for rule in parity.RULES if rule.code == code)
        assert counts[f"{code} {'refused' if packs else 'alone'}"], f"{code} never refused anything"
