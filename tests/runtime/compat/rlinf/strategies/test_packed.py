"""PackedPlacementStrategy: arithmetic against a rank by rank reference, and what it refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.node_group import NODE, NodeGroup
from placewright.models.placements.assignment import seats
from placewright.runtime.compat.rlinf.strategies import PackedPlacementStrategy


def cluster(*counts: int, groups: tuple[NodeGroup, ...] = ()) -> Cluster:
    return Cluster(tuple(Node(i, f"n{i}", accelerators(count)) for i, count in enumerate(counts)), groups)


def rank_by_rank(counts: list[int], start: int, end: int, each: int, stride: int) -> list[list[tuple[int, int]]] | None:
    """What the documentation describes, one rank after the other; None where a process would lie on two nodes."""
    everything = [(node, index) for node, count in enumerate(counts) for index in range(count)]
    free = list(range(start, end + 1))
    found = []
    while free:
        ranks = [free[0] + j * (stride if each > 1 else 1) for j in range(each)]
        held = [everything[rank] for rank in ranks]
        if len({node for node, _ in held}) > 1:
            return None
        found.append(held)
        free = [rank for rank in free if rank not in ranks]
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(0, 6), st.integers(1, 4), st.integers(1, 3), st.integers(1, 6))
def test_it_is_what_a_walk_over_the_ranks_gives(counts: list[int], start: int, each: int, stride: int, blocks: int) -> None:
    end = start + blocks * each * stride - 1
    if end >= sum(counts):
        return
    strategy = PackedPlacementStrategy(start, end, each, stride)
    expected = rank_by_rank(counts, start, end, each, stride)
    if expected is None:
        with pytest.raises(UnusableInput) as refused:
            strategy.runs(cluster(*counts))
        assert [finding.code for finding in refused.value.findings] == ["PW203"]
    else:
        assert [[seat for seat, _, _ in held] for _, held in seats(strategy.runs(cluster(*counts)))] == expected


def test_a_stride_interleaves_the_processes_of_a_block() -> None:
    placed = PackedPlacementStrategy(0, 11, 2, 3).get_placement(cluster(12))
    assert [p.local_hardware_ranks for p in placed] == [(0, 3), (1, 4), (2, 5), (6, 9), (7, 10), (8, 11)]


def test_with_one_rank_per_process_a_stride_changes_nothing() -> None:
    assert PackedPlacementStrategy(0, 7, 1, 2).runs(cluster(8)) == PackedPlacementStrategy(0, 7).runs(cluster(8))


def test_a_process_that_reaches_one_rank_beyond_its_node_is_refused() -> None:
    with pytest.raises(UnusableInput, match="process 1 would span several nodes: its block needs 2 accelerators, node 0 has 1 left"):
        PackedPlacementStrategy(0, 3, 2).runs(cluster(3, 5))


def test_a_hundred_thousand_accelerators_are_as_many_runs_as_nodes() -> None:
    runs = PackedPlacementStrategy(0, 99_999, 4).runs(cluster(*[8] * 12_500))
    assert len(runs) == 12_500
    assert runs[-1].ranks == range(24_998, 25_000)


def test_a_node_that_is_met_twice_counts_its_processes_together() -> None:
    groups = (NodeGroup("a", (0, 1), "Accelerator"), NodeGroup("b", (0,), "Accelerator"))
    placed = PackedPlacementStrategy(0, 5, node_group=["a", "b"]).get_placement(cluster(2, 2, groups=groups))
    assert [(p.node_rank, p.local_rank, p.local_world_size) for p in placed] == [
        (0, 0, 4),
        (0, 1, 4),
        (1, 0, 2),
        (1, 1, 2),
        (0, 2, 4),
        (0, 3, 4),
    ]


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((-1, 3), ["PW119"]),
        ((0, 3, 0), ["PW119"]),
        ((0, 3, -1, 0), ["PW119", "PW119"]),
        ((0, 3, 1, -1), ["PW119"]),
        ((3, 0), ["PW119"]),
        ((0, 4, 2), ["PW119"]),
        ((0, True), ["PW119"]),
    ],
)
def test_arguments_that_do_not_fit_are_refused_at_once(arguments: tuple[int, ...], codes: list[str]) -> None:
    with pytest.raises(UnusableInput) as refused:
        PackedPlacementStrategy(*arguments)
    assert [finding.code for finding in refused.value.findings] == codes


def test_ranks_unknown_groups_and_bare_nodes_are_refused() -> None:
    bare = cluster(2, 0, groups=(NodeGroup("cpu", (1,), NODE),))
    for strategy, code in (
        (PackedPlacementStrategy(0, 2), "PW102"),
        (PackedPlacementStrategy(0, 0, node_group="gpu"), "PW107"),
        (PackedPlacementStrategy(0, 0, node_group=[]), "PW107"),
        (PackedPlacementStrategy(0, 0, node_group="cpu"), "PW302"),
    ):
        with pytest.raises(UnusableInput) as refused:
            strategy.runs(bare)
        assert [finding.code for finding in refused.value.findings] == [code]


def test_nothing_is_guessed_where_nobody_counted_the_accelerators() -> None:
    with pytest.raises(UnusableInput, match="numbers of accelerators"):
        PackedPlacementStrategy(0, 0).runs(Cluster((Node(0, "n0"),), counted=False))
