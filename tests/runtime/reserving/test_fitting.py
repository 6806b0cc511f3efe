"""On which nodes parts go: whole on one, as few nodes broken as can be, always the same, and found wherever there is a way."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.runtime.port.port import RayNode
from placewright.runtime.reserving.fitting import fit


def node(rank: int, total: float, free: float | None = None, cpus: float = 64) -> RayNode:
    left = total if free is None else free
    return RayNode(str(rank), f"host-{rank}", "", {}, {"GPU": total, "CPU": cpus}, {"GPU": left, "CPU": cpus})


def chosen(nodes: list[RayNode], *sizes: float) -> list[int] | None:
    return fit(nodes, [{"GPU": size, "CPU": size} for size in sizes], "GPU")


@pytest.mark.parametrize(
    ("nodes", "sizes", "found"),
    [
        ([node(0, 8), node(1, 8)], (8, 8), [0, 1]),
        ([node(0, 8), node(1, 8)], (4, 4), [0, 0]),
        ([node(0, 8), node(1, 8, 3)], (2,), [1]),
        ([node(0, 8), node(1, 4)], (4,), [1]),
        ([node(0, 8), node(1, 8)], (3,), [0]),
        ([node(0, 2), node(1, 4)], (4, 2), [1, 0]),
        ([node(0, 4), node(1, 4)], (2, 4), [0, 1]),
        ([node(0, 8), node(1, 4), node(2, 4)], (2, 8, 4), [1, 0, 2]),
        ([node(0, 7), node(1, 9)], (5, 4, 4, 3), [1, 0, 1, 0]),
        ([node(0, 4), node(1, 4)], (8,), None),
        ([node(0, 4), node(1, 4)], (3, 3, 2), None),
        ([node(0, 8, cpus=7)], (8,), None),
        ([], (1,), None),
        ([node(0, 8)], (), []),
    ],
)
def test_parts_take_the_nodes_that_they_break_least(nodes: list[RayNode], sizes: tuple[float, ...], found: list[int] | None) -> None:
    assert chosen(nodes, *sizes) == found


def test_equal_parts_stand_in_the_order_of_their_nodes() -> None:
    nodes = [node(0, 8), node(1, 8, 4), node(2, 8, 4)]
    assert chosen(nodes, 4, 4, 4) == [0, 1, 2]


def test_thousands_of_parts_take_no_time() -> None:
    assert chosen([node(rank, 8) for rank in range(600)], *[8.0] * 600) == list(range(600))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_they_fit_just_where_there_is_a_way_and_then_within_what_is_free(free: list[int], sizes: list[int]) -> None:
    found = chosen([node(rank, 8, left) for rank, left in enumerate(free)], *sizes)
    ways = [way for way in product(range(len(free)), repeat=len(sizes)) if within(free, sizes, way)]
    assert (found is not None) == bool(ways)
    assert found is None or tuple(found) in ways


def within(free: list[int], sizes: list[int], way: tuple[int, ...]) -> bool:
    return all(sum(size for size, at in zip(sizes, way) if at == rank) <= left for rank, left in enumerate(free))
