from __future__ import annotations

from itertools import groupby, product
from typing import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment, seats
from placewright.models.pools import (
    DeclaredPools,
    FreeNodes,
    Pool,
    PoolParts,
    Reserve,
    can_fit,
    cut,
    lay_out,
    machines_for,
    one_node_each,
    rooms_of,
)


def pool(*sizes: int, name: str = "pool", cpus: int = 0) -> Pool:
    return Pool(name, tuple(PoolParts(size, len(list(alike))) for size, alike in groupby(sizes)), cpus)


def rooms(text: str) -> tuple[FreeNodes, ...]:
    cluster = read_shorthand(text)
    assert isinstance(cluster, Cluster)
    return rooms_of(cluster)


def held(runs: Sequence[object]) -> list[tuple[int, int]]:
    return [seat for _, its in seats(runs) for seat, _, _ in its]  # type: ignore[arg-type]


def test_a_pool_says_its_size_its_parts_and_whether_they_are_alike() -> None:
    assert (pool(8, 8).size, pool(8, 8).count, pool(8, 8).even, pool(8, 8).sizes) == (16, 2, True, "2 x 8")
    assert (pool(4, 2).even, pool(4, 2).sizes, pool(*range(1, 12)).sizes) == (False, "[4, 2]", "[1, 2, 3, 4, 5, 6, 7, 8, ...]")


def test_parts_of_a_pool_go_to_different_nodes_and_ranks_follow_the_nodes() -> None:
    layout = lay_out([pool(4, 4, name="a"), pool(4, 4, name="b")], rooms("2x8"))
    assert held(layout.runs("a")) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]
    assert held(layout.runs("b")) == [(0, 4), (0, 5), (0, 6), (0, 7), (1, 4), (1, 5), (1, 6), (1, 7)]


def test_several_parts_on_a_node_are_ranked_one_after_the_other() -> None:
    layout = lay_out([pool(2, 2, 2, 2)], rooms("2x4"))
    assert held(layout.runs("pool")) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_accelerators_that_others_hold_are_left_out() -> None:
    layout = lay_out([pool(3)], [FreeNodes(range(1), 0b10110101)])
    assert held(layout.runs("pool")) == [(0, 0), (0, 2), (0, 4)]


def test_the_first_part_without_room_is_named_with_the_node_that_has_most_left() -> None:
    short = lay_out([pool(3, 3)], rooms("1x4+1x2")).short
    assert short is not None and short.best is not None
    assert (short.part, short.size, short.best.nodes) == (1, 3, range(1, 2))


def test_cpus_limit_the_parts_of_a_node_and_other_processes_take_theirs_first() -> None:
    room = [FreeNodes(range(1), 0xFF, 24)]
    assert lay_out([pool(8, cpus=3)], room).short is None
    assert lay_out([pool(8, cpus=3)], room, [Reserve("runner", 1)]).short is not None


def test_a_thousand_nodes_are_a_few_runs() -> None:
    layout = lay_out([Pool("pool", (PoolParts(8, 1000),))], rooms("1000x8"))
    runs = layout.runs("pool")
    assert len(runs.repeats) == 1 and Assignment({"pool": runs}).world_size("pool") == 8000


def test_machines_for_pools_are_as_many_as_the_largest_has_parts_or_as_room_demands() -> None:
    assert machines_for([pool(6, 6, name="a"), pool(2, 2, name="b")], 8) == 2
    assert machines_for([pool(6, 6, name="a"), pool(4, 4, name="b")], 8) == 3
    assert machines_for([pool(9)], 8) == 0


def test_apart_every_part_has_a_node_of_its_own() -> None:
    cluster, layout = one_node_each(DeclaredPools((pool(4, name="a"), pool(8, 8, name="b"))))
    assert [len(node.accelerators) for node in cluster.nodes] == [4, 8, 8]
    assert {seat[0] for seat in held(layout.runs("b"))} == {1, 2}


def test_a_part_of_the_ranks_counts_from_zero() -> None:
    runs = cut(lay_out([pool(4, 4)], rooms("2x4")).runs("pool"), 2, 5)
    assert list(seats(runs)) == [
        (rank, [((node, index), "Accelerator", "cluster")]) for rank, (node, index) in enumerate([(0, 2), (0, 3), (1, 0), (1, 1)])
    ]


def brute(sizes: list[int], nodes: list[int]) -> bool:
    """Is there any way to give each part a node?"""
    for choice in product(range(len(nodes)), repeat=len(sizes)):
        left = list(nodes)
        for size, node in zip(sizes, choice):
            left[node] -= size
        if min(left) >= 0:
            return True
    return False


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(0, 1))
def test_whether_parts_can_fit_is_exact(sizes: list[int], nodes: list[int], cpus: int) -> None:
    room = [
        FreeNodes(range(rank, rank + 1), (1 << 8) - 1, count) if cpus else FreeNodes(range(rank, rank + 1), (1 << count) - 1)
        for rank, count in enumerate(nodes)
    ]
    possible = brute(sizes, nodes)
    assert can_fit([pool(*sizes, cpus=cpus)], room) is possible
    layout = lay_out([pool(*sizes, cpus=cpus)], room)
    if layout.short is None:
        assert possible
        where = held(layout.runs("pool"))
        assert len(where) == len(set(where)) == sum(sizes)


def test_a_process_beside_the_pools_can_make_them_impossible() -> None:
    assert can_fit([pool(8, cpus=3)], [FreeNodes(range(2), 0xFF, 24)], [Reserve("runner", 1)]) is True
    assert can_fit([pool(8, 8, cpus=3)], [FreeNodes(range(2), 0xFF, 24)], [Reserve("runner", 1)]) is False


def test_many_nodes_are_decided_by_a_count_or_not_at_all() -> None:
    many = [FreeNodes(range(1000), 0xFF)]
    assert can_fit([Pool("pool", (PoolParts(5, 1001),))], many) is False
    assert can_fit([Pool("a", (PoolParts(5, 500),)), Pool("b", (PoolParts(3, 700),))], many) is None
