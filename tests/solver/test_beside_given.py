"""What is searched beside parts that are given, on nodes, or in several groups."""

from __future__ import annotations

from placewright.models.answer import IMPOSSIBLE
from placewright.models.machines.node_group import NODE
from placewright.models.placements.plan import OPTIMAL
from placewright.models.placements.run import Run
from placewright.solver.check import check_explicit
from placewright.solver.searching.search import solve

from .cases import cluster, component, given, problem, share


def test_processes_on_nodes_are_as_many_as_their_shares_allow() -> None:
    on_nodes = component("env", 2, 5, node_groups=("node",))
    for amount, verdict, size in ((12, OPTIMAL, 4), (6, OPTIMAL, 3), (7, IMPOSSIBLE, 0)):
        answer = solve(problem(cluster({"count": 1}, {"count": 1}), on_nodes, dealt=(share("env", amount),)))
        assert answer.verdict == verdict
        assert answer.plan is None or answer.plan.assignment.world_size("env") == size
    (finding,) = answer.findings
    assert finding.message == "impossible: env: with 2-5 processes 7 environments cannot be dealt out evenly"


def test_given_parts_that_a_searched_one_joins_must_be_the_same() -> None:
    question = problem(
        cluster({"count": 3}),
        given("a", Run(range(1), 0)),
        given("b", Run(range(1), 0, first=2)),
        component("c", 1),
        together="c+a c+b",
        shares=True,
    )
    (finding,) = solve(question).findings
    assert finding.message == "a and b are colocated but differ in 2 accelerators (first on node 0)"
    assert finding.notes == ("demanded by the place of c",)


def test_given_parts_one_in_the_other_through_a_searched_one_share_their_accelerators() -> None:
    parts = component("ref", 3), given("actor", Run(range(4), 0))
    through = {"within": "rollout+ref ref+actor"}
    inside = problem(cluster({"count": 5}), given("rollout", Run(range(2), 0)), *parts, **through)
    assert check_explicit(inside) == ()
    outside = problem(cluster({"count": 5}), given("rollout", Run(range(2), 0, first=3)), *parts, **through)
    assert {finding.code for finding in check_explicit(outside)} == {"PW212"}
    beside = problem(cluster({"count": 5}), given("rollout", Run(range(2), 0)), *parts, within="rollout+ref")
    assert {finding.code for finding in check_explicit(beside)} == {"PW201"}


def test_what_only_joins_given_parts_needs_no_search() -> None:
    answer = solve(problem(cluster({"count": 3}), given("a", Run(range(2), 0)), component("c", 2), together="c+a"))
    assert (answer.verdict, answer.how) == (OPTIMAL, "greedy")


def test_within_a_given_part_beside_one_that_is_given_on_nodes() -> None:
    agent = component("agent", 2, runs=(Run(range(2), 0, NODE, each=0, pitch=0, node_group="node"),), node_groups=("node",))
    question = problem(cluster({"count": 3}), agent, given("a", Run(range(2), 0)), component("c", 1), within="c+a", shares=True)
    plan = solve(question).plan
    assert plan is not None and plan.assignment.masks("c") == {(0, "Accelerator"): 0b1}


def test_a_range_over_groups_follows_the_order_of_their_nodes_where_these_must_ascend() -> None:
    where = cluster({"count": 2}, {"count": 2}, late=(1,), early=(0,))
    plan = solve(problem(where, component("a", 4, contiguous=True, node_groups=("late", "early")), in_order=True)).plan
    assert plan is not None and [run.node for run in plan.assignment.of("a")] == [0, 1]


def test_a_process_is_on_one_solid_range_where_there_is_one() -> None:
    where = cluster({"count": 3}, {"count": 4})
    question = problem(where, given("a", Run(range(1), 0, first=1), Run(range(1, 2), 1, first=1)), component("b", 2, per_process=2))
    plan = solve(question).plan
    assert plan is not None and plan.assignment.masks("b") == {(1, "Accelerator"): 0b1100}
    nowhere = problem(cluster({"count": 3}), given("a", Run(range(1), 0, first=1)), component("b", 2, per_process=2))
    plan = solve(nowhere).plan
    assert plan is not None and plan.assignment.masks("b") == {(0, "Accelerator"): 0b101}


def test_groups_that_interleave_are_said_as_the_whole_cluster() -> None:
    where = cluster({"count": 1}, {"count": 1}, {"count": 1}, outer=(0, 2), inner=(1,))
    for least, in_order, expected in ((3, True, {"cluster"}), (3, False, {"outer", "inner"}), (2, True, {"outer", "inner"})):
        question = problem(where, component("a", least, node_groups=("outer", "inner")), in_order=in_order)
        plan = solve(question).plan
        assert plan is not None and {run.node_group for run in plan.assignment.of("a")} == expected
