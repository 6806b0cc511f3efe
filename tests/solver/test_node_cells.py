"""Nodes that nothing tells apart stay one cell: a demand splits no more of them than it must."""

from __future__ import annotations

import pytest
from placewright.models.component import Keep, Pin, Spread
from placewright.models.machines.cluster import Cluster
from placewright.models.placements.run import Run
from placewright.models.problem import Problem
from placewright.solver.layout.layout import Layout
from placewright.solver.searching.search import solve

from .cases import cluster, component, given, problem

MANY = 40


def many(count: int = 4, **more: int) -> Cluster:
    """Forty nodes that are alike; the first ten are a group."""
    return cluster(*({"count": count, **more} for _ in range(MANY)), g=tuple(range(10)))


def sizes(question: Problem) -> list[int]:
    """How many nodes each cell has, the largest last."""
    return sorted(len(cell.nodes) for cell in Layout(question).cells)


def test_what_always_suffices_splits_nothing() -> None:
    for amount in ("cpus", "host_memory"):
        field = {"cpus": "cpus", "host_memory": "memory"}[amount]
        exactly = problem(many(**{field: 8}), component("a", 16, **{amount: 2}), component("b", 4, per_process=2, **{amount: 4}))
        assert sizes(exactly) == [MANY]
        short = problem(many(**{field: 7}), component("a", 16, **{amount: 2}))
        assert sizes(short) == [1] * MANY


def test_only_nodes_that_may_be_short_are_split() -> None:
    where = cluster(*({"count": 4, "memory": 4 if rank < 3 else 8} for rank in range(MANY)))
    assert sizes(problem(where, component("a", 16, host_memory=2))) == [1, 1, 1, MANY - 3]


def test_colocated_ones_add_up() -> None:
    def together(**more: int) -> Problem:
        return problem(many(cpus=8, memory=8), component("a", 4, **more), component("b", 4, **more), together="a+b")

    assert sizes(together(cpus=1)) == [MANY]
    assert sizes(together(cpus=2)) == [1] * MANY
    assert sizes(together(host_memory=1)) == [MANY]
    assert sizes(together(host_memory=2)) == [1] * MANY


def test_nodes_are_split_only_where_both_may_be() -> None:
    inside = component("b", 4, node_groups=("g",))
    assert sizes(problem(many(), component("a", 4), inside, away="a+b@node")) == [1] * 10 + [30]
    assert sizes(problem(many(), component("a", 4), inside, near="b+a@node")) == [1] * 10 + [30]
    assert sizes(problem(many(), component("a", 4), inside, away="a+b@rack")) == [10, 30]


def test_nodes_of_a_given_part_are_told_apart_and_not_split() -> None:
    held = given("a", *(Run(range(rank, rank + 1), rank) for rank in range(5)))
    assert sizes(problem(many(), held, component("b", 4), away="a+b@node")) == [5, 35]
    assert sizes(problem(many(), held, component("b", 4), near="b+a@node")) == [5, 35]
    assert sizes(problem(many(), held, component("b", 8), near="a+b@node")) == [1] * 5 + [35]


def test_pins_and_exclusions_tell_their_nodes_apart() -> None:
    pinned = component("a", 8, pins=(Pin(range(2), (1, 2)), Pin(range(2, 4), (2, 3))))
    assert sizes(problem(many(), pinned)) == [1, 1, 1, 37]
    assert sizes(problem(many(), component("a", 8, excluded=(0, 7)))) == [2, 38]


@pytest.mark.parametrize("demand", [{"spread": (Spread("node", 3),)}, {"keep": (Keep("component", "node", 2),)}])
def test_what_counts_nodes_splits_its_own_alone(demand: dict[str, tuple[object, ...]]) -> None:
    assert sizes(problem(many(), component("a", 4, node_groups=("g",), **demand), component("b", 4))) == [1] * 10 + [30]


def test_processes_on_nodes_are_searched_only_where_it_matters() -> None:
    agent = component("agent", 12, node_groups=("node",), cpus=1)
    assert not Layout(problem(many(cpus=8), agent, component("a", 16, cpus=1))).dealt
    assert Layout(problem(many(cpus=4), agent, component("a", 16, cpus=1))).dealt
    assert Layout(problem(many(), agent, component("a", 16), away="agent+a@node")).dealt


def test_processes_lie_as_evenly_as_they_may() -> None:
    agent = component("agent", 6, node_groups=("node",), spread=(Spread("node", 1, 34),), excluded=(0,))
    answer = solve(problem(cluster(*({"count": 2} for _ in range(4))), agent, component("a", 2), away="agent+a@node"))
    assert answer.plan is not None
    there = answer.plan.assignment.processes_on("agent")
    assert 0 not in there and max(there.values()) == 2
    assert answer.plan.status == "optimal"
