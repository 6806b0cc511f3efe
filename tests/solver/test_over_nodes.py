"""What lies over several nodes: groups, processes, and replicas of engines."""

from __future__ import annotations

import pytest
from placewright.models.component import Component
from placewright.models.findings.finding import Severity
from placewright.models.parallel import Parallel
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.run import Run
from placewright.solver.check import check_explicit
from placewright.solver.searching.search import solve

from .cases import cluster, component, given, problem
from .few_ranks import TWO_NODES, only


def test_groups_over_nodes_are_a_warning_where_the_framework_lets_them() -> None:
    torn = given("a", Run(range(1), 0), Run(range(1, 2), 1), parallel=component("a", 1, tp=2).parallel)
    assert only(problem(TWO_NODES, torn)).severity is Severity.ERROR
    finding = only(problem(TWO_NODES, torn, crossing=True))
    assert finding.severity is Severity.WARNING
    assert finding.message == "tp group 0 of a (2 accelerators) spans nodes 0 and 1: slow, but not refused"
    plan = solve(problem(cluster({"count": 3}, {"count": 3}), component("a", 4, tp=2), crossing=True)).plan
    assert plan is not None
    assert [mask.bit_count() for mask in plan.assignment.masks("a").values()] == [2, 2]


def test_a_process_over_nodes_is_a_warning_where_the_framework_lets_it_and_says_that_of_its_groups_too() -> None:
    torn = given("a", Run(range(1), 0, first=6, each=2), Run(range(1), 1, each=2), per_process=4, parallel=component("a", 4, tp=4).parallel)
    assert {finding.code for finding in check_explicit(problem(TWO_NODES, torn))} == {"PW202", "PW203"}
    finding = only(problem(TWO_NODES, torn, crossing=True))
    assert (finding.code, finding.severity) == ("PW203", Severity.WARNING)
    assert finding.message == "process 0 of a spans nodes 0 and 1: slow, but not refused"


def test_stages_of_a_process_on_different_nodes_are_no_warning_where_the_framework_lets_them() -> None:
    parallel = Parallel(tp=2, pp=2)
    apart = given("a", Run(range(1), 0, first=6, each=2), Run(range(1), 1, each=2), per_process=4, parallel=parallel)
    assert list(check_explicit(problem(TWO_NODES, apart, crossing=True))) == []
    assert {finding.code for finding in check_explicit(problem(TWO_NODES, apart))} == {"PW203"}
    torn = given("a", Run(range(1), 0, first=7, each=1), Run(range(1), 1, each=3), per_process=4, parallel=parallel)
    assert only(problem(TWO_NODES, torn, crossing=True)).code == "PW203"


def engine(size: int, *runs: Run) -> Component:
    """A rollout whose replicas have `size` accelerators."""
    return given("rollout", *runs, role="rollout", parallel=component("rollout", 1, tp=size).parallel)


THREE_NODES = cluster({"count": 9}, {"count": 9}, {"count": 9})


@pytest.mark.parametrize(
    ("size", "held", "message"),
    [
        (6, (8, 8, 8), "replica 1 of rollout (tp 6: 6 accelerators) has 2 on node 0 and 4 on node 1 (2 replicas do)"),
        (6, (9, 9, 6), "replica 1 of rollout (tp 6: 6 accelerators) has 3 on node 0 and 3 on node 1"),  # even, but not on whole nodes
        (12, (8, 8, 8), "replica 0 of rollout (tp 12: 12 accelerators) has 8 on node 0 and 4 on node 1 (2 replicas do)"),
        (5, (6, 4), "replica 1 of rollout (tp 5: 5 accelerators) has 1 on node 0 and 4 on node 1"),
        (8, (8, 8, 8), ""),
        (16, (8, 8), ""),
        (8, (4, 4), ""),
        (4, (8, 4), ""),
    ],
)
def test_a_replica_lies_inside_one_node_or_on_whole_nodes(size: int, held: tuple[int, ...], message: str) -> None:
    starts = [sum(held[:position]) for position in range(len(held))]
    runs = [Run(range(start, start + count), node) for node, (start, count) in enumerate(zip(starts, held))]
    found = check_explicit(problem(THREE_NODES, engine(size, *runs), crossing=True, whole=True))
    told = [(finding.message, finding.notes) for finding in found if finding.code == "PW214"]
    assert told == ([(message, ("a replica must be inside one node or on whole nodes",))] if message else [])
    assert not [finding for finding in check_explicit(problem(THREE_NODES, engine(size, *runs), crossing=True)) if finding.code == "PW214"]


def test_replicas_that_are_searched_are_whole_on_one_node() -> None:
    plan = solve(problem(THREE_NODES, component("rollout", 18, tp=3, pp=2, role="rollout"), whole=True)).plan
    assert plan is not None
    assert [mask.bit_count() for mask in plan.assignment.masks("rollout").values()] == [6, 6, 6]
    answer = solve(problem(THREE_NODES, component("rollout", 18, tp=3, pp=6, role="rollout"), whole=True))
    assert [finding.message for finding in answer.findings] == [
        "not searched: a replica of rollout needs 18 accelerators, more than the 9 of the largest node"
    ]


def test_processes_that_reserve_cpus_are_counted_where_they_begin() -> None:
    where = cluster({"count": 4, "cpus": 4}, {"count": 4, "cpus": 4}, {"count": 4})
    runs = (Run(range(1), 0, first=2, each=2), Run(range(1), 1, each=2), Run(range(1, 2), 1, first=2, each=2), Run(range(2, 4), 2))
    torn = given("a", *runs, cpus=4)
    assert torn.runs is not None and Assignment({"a": torn.runs}).processes_on("a") == {0: 1, 1: 1, 2: 2}
    assert not [finding for finding in check_explicit(problem(where, torn, crossing=True)) if finding.code == "PW502"]
