"""Runs that are the same on the next nodes are kept as one, and behave as a tuple of runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment, runs_by_node_sort, seats
from placewright.models.placements.placement import placements
from placewright.models.placements.run import Repeat, Run, Runs, repeats_of
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy

TWICE = Repeat((Run(range(2), 3, first=0, each=2, step=2, pitch=1), Run(range(2, 4), 3, first=4, each=2, step=2, pitch=1)), 2)
PLAIN = (
    *TWICE.runs,
    Run(range(4, 6), 4, first=0, each=2, step=2, pitch=1),
    Run(range(6, 8), 4, first=4, each=2, step=2, pitch=1),
    Run(range(8, 9), 7, first=5),
)
RUNS = Runs([TWICE, Repeat((PLAIN[-1],))])


def test_they_are_a_sequence_as_a_tuple_is() -> None:
    assert RUNS == PLAIN
    assert PLAIN == RUNS
    assert hash(RUNS) == hash(PLAIN)
    assert [RUNS[i] for i in range(-5, 5)] == [PLAIN[i] for i in range(-5, 5)]
    assert RUNS[1:4:2] == PLAIN[1:4:2]
    assert PLAIN[:4] != RUNS
    assert Runs(repeats_of(PLAIN)) == RUNS
    with pytest.raises(IndexError):
        RUNS[5]


def test_what_a_repeat_covers() -> None:
    assert (TWICE.ranks, TWICE.node_ranks, TWICE.each_node, len(TWICE)) == (range(8), range(3, 5), 4, 4)
    assert (TWICE.mask("Accelerator"), TWICE.mask("Franka")) == (0xFF, 0)


def test_an_assignment_says_the_same_of_either() -> None:
    one, other = Assignment({"a": RUNS}), Assignment({"a": PLAIN})
    assert one == other
    for told in (Assignment.masks, Assignment.world_size, Assignment.amount, Assignment.count_held, Assignment.node_ranges):
        assert told(one, "a") == told(other, "a")
    assert (one.count_held("a"), one.amount("a"), one.node_ranges("a")) == (17, 17, (range(3, 5), range(7, 8)))


def test_resources_that_processes_share_are_held_once() -> None:
    shared = Assignment({"a": (Run(range(2), 0, pitch=0), Run(range(2, 3), 0))})
    assert (shared.count_held("a"), shared.amount("a")) == (1, 3)


def test_every_sort_of_node_is_met_once() -> None:
    cluster = read_shorthand("2x8+3x4")
    assert isinstance(cluster, Cluster)
    found = [
        (run.node, run.ranks, len(node.accelerators), count)
        for run, node, count in runs_by_node_sort(cluster, [Repeat((Run(range(4), 1),), 3)])
    ]
    assert found == [(1, range(4), 8, 1), (2, range(4, 8), 4, 2)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3), st.sampled_from([(1, 1), (2, 1), (2, 2), (4, 2), (1, 3)]), st.integers(0, 2), st.booleans())
def test_placements_are_the_same_from_either(nodes: int, shape: tuple[int, int], start: int, isolated: bool) -> None:
    cluster = read_shorthand(f"{nodes}x8+1x16")
    assert isinstance(cluster, Cluster)
    runs = PackedPlacementStrategy(
        start * 8 if start <= nodes else 0, nodes * 8 + 15, *(shape if 8 % (shape[0] * shape[1]) == 0 else (1, 1))
    ).runs(cluster)
    assert placements(cluster, runs, isolated) == placements(cluster, tuple(runs), isolated)
    assert [tuple(its for (_, its), _, _ in held) for _, held in seats(runs)] == [p.local_hardware_ranks for p in placements(cluster, runs)]


def test_a_million_processes_are_one_run_repeated() -> None:
    cluster = read_shorthand("125000x8")
    assert isinstance(cluster, Cluster)
    runs = PackedPlacementStrategy(0, 999_999).runs(cluster)
    assert (len(runs.repeats), len(runs), runs[-1].ranks) == (1, 125_000, range(999_992, 1_000_000))
