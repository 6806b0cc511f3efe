"""Tiny problems in which given ranks are within open components, for parity."""

from __future__ import annotations

import random
from dataclasses import replace

from placewright.models.component import Component, Keep, Pin
from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment, compress
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.check import check_explicit
from placewright.solver.search_scope import find_unsupported

from .. import parity
from ..cases import cluster, component, given, problem
from ..clusters import FIVE, LARGE, MIXED, TWO
from .near import near, single
from .random_problems import random_problem

ONE = given("g", Run(range(1), 0, first=1))
NUMA = cluster({"count": 4, "numa": 2}, {"count": 2})

AROUND_CASES: dict[str, Problem] = {
    "around given": problem(TWO, ONE, component("a", 2, 3), component("c", 1, 2), within="g+a"),
    "around given, of groups": problem(TWO, ONE, component("a", 2, 4, tp=2), component("c", 1), within="g+a"),
    "around given on two nodes": problem(
        TWO, given("g", Run(range(1), 0, first=1), Run(range(1, 2), 1)), component("a", 2, 4, tp=2), within="g+a"
    ),
    "around two given": problem(TWO, ONE, given("h", Run(range(1), 1)), component("a", 2, 3), component("c", 1), within="g+a h+a"),
    "around given, beside given": problem(TWO, ONE, given("h", Run(range(1), 0)), component("a", 2, 3, tp=2), within="g+a"),
    "around given that share": problem(
        TWO, given("g", Run(range(2), 0)), given("h", Run(range(2), 0, first=1)), component("a", 2, 4), within="g+a", shares=True
    ),
    "around given, one of two that share": problem(
        TWO, ONE, given("h", Run(range(2), 0)), component("a", 1, 3), component("c", 1), within="g+a", shares=True
    ),
    "two around given": problem(TWO, ONE, given("h", Run(range(1), 1)), component("a", 1, 2), component("b", 1, 3), within="g+a h+b"),
    "two around the same given": problem(TWO, ONE, component("a", 1, 2), component("b", 1, 2), within="g+a g+b"),
    "within searched around given": problem(FIVE, ONE, component("a", 2, 3), component("b", 1, 2), within="g+a b+a"),
    "within searched of groups around given": problem(FIVE, ONE, component("a", 2, 4, tp=2), component("b", 1, 2), within="g+a b+a"),
    "searched within searched around given": problem(FIVE, ONE, component("a", 2, 4), component("b", 2, 3), within="g+b b+a"),
    "searched around given, both in searched": problem(
        FIVE, ONE, given("h", Run(range(1), 1)), component("a", 2, 4), component("b", 1, 3), within="g+b b+a h+a"
    ),
    "within given within searched": problem(
        TWO, given("g", Run(range(2), 0)), component("a", 2, 4), component("b", 1), component("c", 1), within="b+g g+a c+a"
    ),
    "given within given within searched": problem(
        TWO, given("g", Run(range(2), 0)), given("h", Run(range(1), 0)), component("a", 2, 4), within="h+g g+a"
    ),
    "within given around given": problem(
        TWO, given("f", Run(range(3), 0)), ONE, component("a", 1, 2), component("b", 1), within="a+f g+a b+f"
    ),
    "within given around given outside it": problem(TWO, given("f", Run(range(2), 1)), ONE, component("a", 1, 2), within="a+f g+a"),
    "around given, disjoint from it": problem(TWO, ONE, component("a", 1, 2), within="g+a", apart="g+a"),
    "around given, disjoint from what shares it": problem(
        TWO, ONE, given("h", Run(range(2), 0)), component("a", 1, 2), within="g+a", apart="a+h", shares=True
    ),
    "around given, with memory": problem(
        MIXED, given("g", Run(range(1), 1), memory=30 * 1024), component("a", 1, 3, gib=40), component("b", 1), within="g+a"
    ),
    "around given too large for the memory": problem(
        MIXED, given("g", Run(range(1), 0), memory=30 * 1024), component("a", 1, 3, gib=40), component("b", 1), within="g+a"
    ),
    "around given, contiguous": problem(TWO, ONE, component("a", 2, 3, contiguous=True), component("c", 1, 2), within="g+a"),
    "around given in pieces, contiguous": problem(
        TWO, given("g", Run(range(1), 0), Run(range(1, 2), 1)), component("a", 2, 5, contiguous=True), within="g+a"
    ),
    "contiguous around given, of groups beside": problem(
        TWO, ONE, component("a", 2, 3, contiguous=True), component("c", 2, tp=2), within="g+a"
    ),
    "contiguous within contiguous around given": problem(
        FIVE, ONE, component("a", 3, 4, contiguous=True), component("b", 1, 2, contiguous=True), within="g+a b+a"
    ),
    "contiguous within counted around given": problem(
        FIVE, ONE, component("a", 3, 4), component("b", 1, 2, contiguous=True), component("c", 1), within="g+a b+a"
    ),
    "counted within contiguous around given": problem(
        FIVE, ONE, component("a", 3, 4, contiguous=True), component("b", 1, 2), within="g+a b+a"
    ),
    "around given, in NUMA domains": problem(
        NUMA, ONE, component("a", 2, 4, tp=2, keep=(Keep("tp", "numa"),)), component("c", 1), within="g+a"
    ),
    "around given, others in NUMA domains": problem(
        NUMA, ONE, component("a", 2, 3), component("c", 2, tp=2, keep=(Keep("tp", "numa"),)), within="g+a"
    ),
    "around given, all on one node": problem(TWO, ONE, component("a", 2, keep=(Keep("component", "node"),)), within="g+a"),
    "around given, pinned": problem(TWO, ONE, component("a", 2, 3, pins=(Pin(range(1), (1,)),)), within="g+a"),
    "around given, in step": problem(
        FIVE, given("g", Run(range(1), 0)), component("a", 2, 4, contiguous=True),
        component("b", 2, 4, contiguous=True, per_process=2), within="g+b a+b", in_step="a+b",
    ),
    "around given, near an answer": near(
        problem(TWO, ONE, component("a", 2, 4, tp=2), component("c", 2), within="g+a"),
        a=(Run(range(0, 2), 0, first=1), Run(range(2, 4), 1)), c=(single(0, 0, 0), single(1, 1, 2)),
    ),
    "around given, near an answer beside it": near(
        problem(TWO, given("g", Run(range(2), 0)), component("a", 3), component("c", 1), within="g+a"),
        a=(single(0, 0, 1), single(1, 0, 2), single(2, 1, 1)), c=(single(0, 0, 2),),
    ),
    "contiguous around given, near an answer": near(
        problem(TWO, ONE, component("a", 2, 3, contiguous=True), within="g+a"), a=(Run(range(0, 3), 0),)
    ),
    "around given, strided": problem(LARGE, ONE, component("a", 4, tp=2, contiguous=True, stride=2), within="g+a"),
}  # fmt: skip


def _somewhere(source: random.Random, question: Problem, each: Component) -> tuple[Run, ...]:
    """Ranks of a component on any accelerators."""
    seats = [(node.rank, index) for node in question.cluster.nodes for index in range(len(node.accelerators))]
    held, size = sorted(source.sample(seats, min(len(seats), each.least))), each.per_process
    return compress((rank, held[rank * size : (rank + 1) * size]) for rank in range(len(held) // size))


def random_around(source: random.Random, most: int = 2_000) -> Problem:
    """A problem in which given ranks are within an open component; half of them where given ranks may not share."""
    while True:
        found = random_problem(source, most)
        names = [each.name for each in found.components]
        if "g" not in names:
            continue
        job, hosts = found.job, source.sample(names[1:], source.choice((1, 1, 2)) if len(names) > 2 else 1)
        relations = [each for each in job.relations if source.random() < 0.7 or "g" not in each.components]
        relations += [problem(found.cluster, *found.components, within=f"g+{host}").job.relations[0] for host in hosts]
        can = replace(job.capabilities, shares_accelerators=source.random() < 0.5, whole_replicas=False)
        more = source.sample(range(len(found.cluster.nodes)), 1)[0]
        components: tuple[Component, ...] = found.components
        if source.random() < 0.3 and not found.cluster.nodes[more].taken & 1:
            components = (*components, given("h", Run(range(1), more)))
            relations += [problem(found.cluster, *components, within=f"h+{source.choice(names)}").job.relations[0]]
        found = replace(found, job=replace(job, components=components, relations=tuple(dict.fromkeys(relations)), capabilities=can))
        if source.random() < 0.3:
            found = replace(found, previous=Assignment({each.name: _somewhere(source, found, each) for each in found.hinted}))
        ranged = [{c.node_groups for c in members if c.contiguous} for members in found.colocated_sets]
        faults = any(finding.severity is Severity.ERROR for finding in check_explicit(found))
        if not faults and all(len(groups) <= 1 for groups in ranged) and parity.space(found) <= most and not find_unsupported(found):
            return found
