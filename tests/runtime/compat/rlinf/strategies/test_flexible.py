"""FlexiblePlacementStrategy: any ranks, sorted as RLinf sorts them, with every reason to refuse."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.node_group import NODE, NodeGroup
from placewright.models.placements.assignment import seats
from placewright.runtime.compat.rlinf.strategies import FlexiblePlacementStrategy

TWO_BY_FOUR = Cluster(
    tuple(Node(i, f"n{i}", accelerators(4)) for i in range(2)),
    (NodeGroup("low", (0,), "Accelerator"), NodeGroup("high", (1,), "Accelerator"), NodeGroup("bare", (0,), NODE)),
)


def codes(strategy: FlexiblePlacementStrategy) -> list[str]:
    with pytest.raises(UnusableInput) as refused:
        strategy.runs(TWO_BY_FOUR)
    return [finding.code for finding in refused.value.findings]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_every_process_holds_its_ranks_in_the_order_of_the_first(lists: list[set[int]], nodes: list[bool]) -> None:
    ranks = [[rank + 4 * node for rank in each] for each, node in zip(lists, nodes)]
    found = seats(FlexiblePlacementStrategy(ranks).runs(TWO_BY_FOUR))
    expected = sorted((sorted(each) for each in ranks), key=lambda each: each[0])
    assert [[node * 4 + index for (node, index), _, _ in held] for _, held in found] == expected


def test_the_given_lists_are_left_as_they_are() -> None:
    lists = [[7, 6], [1]]
    placed = FlexiblePlacementStrategy(lists).get_placement(TWO_BY_FOUR)
    assert [p.visible_accelerators for p in placed] == [("1",), ("2", "3")]
    assert lists == [[7, 6], [1]]


def test_without_isolation_a_process_sees_all_of_its_node() -> None:
    placed = FlexiblePlacementStrategy([[2]]).get_placement(TWO_BY_FOUR, isolate_accelerator=False)
    assert (placed[0].visible_accelerators, placed[0].local_accelerator_id) == (("0", "1", "2", "3"), 0)


def test_all_reasons_are_given_at_once() -> None:
    assert codes(FlexiblePlacementStrategy([[0, 4], [3, 7]])) == ["PW203", "PW203", "PW210"]
    assert codes(FlexiblePlacementStrategy([[8], [9]])) == ["PW102", "PW102"]
    assert codes(FlexiblePlacementStrategy([[0], [4]], ["high", "low"])) == ["PW210"]
    assert codes(FlexiblePlacementStrategy([[0]], "bare")) == ["PW302"]
    assert codes(FlexiblePlacementStrategy([[0]], "nobody")) == ["PW107"]


@pytest.mark.parametrize(
    ("lists", "code"), [([], "PW119"), ([[0], []], "PW119"), ([[-1]], "PW119"), ([[0, 0]], "PW108"), ([["0"]], "PW119")]
)
def test_lists_that_are_no_ranks_are_refused_at_once(lists: list[list[int]], code: str) -> None:
    with pytest.raises(UnusableInput) as refused:
        FlexiblePlacementStrategy(lists)
    assert {finding.code for finding in refused.value.findings} == {code}
