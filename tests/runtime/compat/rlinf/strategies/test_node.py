"""NodePlacementStrategy: processes on nodes, whatever these have."""

from __future__ import annotations

import pytest
from placewright.models.findings.finding import UnusableInput
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Node, accelerators
from placewright.models.machines.node_group import NodeGroup
from placewright.runtime.compat.rlinf.strategies import NodePlacementStrategy

MIXED = Cluster(
    (Node(0, "gpu", accelerators(2)), Node(1, "cpu")),
    (NodeGroup("a", (0,), "Accelerator"), NodeGroup("b", (1,), "node"), NodeGroup("c", (0, 1), "node")),
)


def test_processes_are_in_the_order_of_the_nodes() -> None:
    placed = NodePlacementStrategy([1, 0, 0]).get_placement(MIXED)
    assert [(p.rank, p.node_rank, p.local_rank, p.local_world_size) for p in placed] == [(0, 0, 0, 2), (1, 0, 1, 2), (2, 1, 0, 1)]
    assert [p.visible_accelerators for p in placed] == [("0", "1"), ("0", "1"), ()]
    assert [p.local_accelerator_id for p in placed] == [0, 0, -1]


@pytest.mark.parametrize(
    ("ranks", "label", "code"),
    [([2], None, "PW102"), ([0], "z", "PW107"), ([0, 1], ["b", "a"], "PW210"), ([0], ["a", "c"], "PW108"), ([1], "b", "PW102")],
)
def test_it_says_why_there_is_no_placement(ranks: list[int], label: str | list[str] | None, code: str) -> None:
    with pytest.raises(UnusableInput) as refused:
        NodePlacementStrategy(ranks, label).runs(MIXED)
    assert [finding.code for finding in refused.value.findings] == [code]


@pytest.mark.parametrize("ranks", [[], [-1], [1.5]])
def test_what_is_no_rank_is_refused_at_once(ranks: list[int]) -> None:
    with pytest.raises(UnusableInput):
        NodePlacementStrategy(ranks)
