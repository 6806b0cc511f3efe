"""The fields of a Placement, with and without isolation, on accelerators, robots and bare nodes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest
from placewright.models.machines.cluster import Cluster
from placewright.models.machines.node import Hardware, Node, accelerators
from placewright.models.machines.node_group import NODE
from placewright.models.placements.placement import Placement, placements
from placewright.models.placements.run import Run

CLUSTER = Cluster(
    (
        Node(0, "a", accelerators(4, "H100", ids=("4", "5", "6", "7"))),
        Node(1, "b", accelerators(2, "NPU:910B")),
        Node(2, "c", hardware=(Hardware("Franka"), Hardware("Franka"))),
    )
)


def test_the_fields_of_the_design_and_no_others() -> None:
    assert [field.name for field in fields(Placement)] == [
        "rank", "node_rank", "node_id", "placement_node_rank", "local_accelerator_id", "accelerator_type", "local_rank", "local_world_size",
        "visible_accelerators", "isolate_accelerator", "local_hardware_ranks", "node_group",
    ]  # fmt: skip


def test_isolated_on_accelerators_of_two_makers() -> None:
    first, second, third = placements(CLUSTER, (Run(range(2), 0, each=2, pitch=2), Run(range(2, 3), 1, first=1, node_group="npu")))
    assert first == Placement(0, 0, "a", 0, 0, "NV_GPU", 0, 2, ("4", "5"), True, (0, 1), "cluster")
    assert second == Placement(1, 0, "a", 0, 2, "NV_GPU", 1, 2, ("6", "7"), True, (2, 3), "cluster")
    assert third == Placement(2, 1, "b", 1, 1, "NPU", 0, 1, ("1",), True, (1,), "npu")


def test_not_isolated_every_process_sees_the_node() -> None:
    (only,) = placements(CLUSTER, (Run(range(1), 0, first=2),), isolate_accelerator=False)
    assert only == Placement(0, 0, "a", 0, 0, "NV_GPU", 0, 1, ("4", "5", "6", "7"), False, (2,), "cluster")


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (Run(range(1), 2, "Franka", first=1, node_group="arms"), Placement(0, 2, "c", 0, -1, "NO_ACCEL", 0, 1, (), True, (1,), "arms")),
        (Run(range(1), 2, NODE, each=0, pitch=0), Placement(0, 2, "c", 0, -1, "NO_ACCEL", 0, 1, (), True, (), "cluster")),
        (Run(range(1), 1, NODE, each=0, pitch=0), Placement(0, 1, "b", 0, 0, "NPU", 0, 1, ("0", "1"), True, (), "cluster")),
    ],
)
def test_robots_and_bare_nodes_see_all_accelerators_of_the_node(run: Run, expected: Placement) -> None:
    assert placements(CLUSTER, (run,)) == [expected]


def test_a_node_that_is_met_twice_is_one_node() -> None:
    found = placements(CLUSTER, (Run(range(1), 0), Run(range(1, 2), 1), Run(range(2, 3), 0, first=1)))
    assert [(each.placement_node_rank, each.local_rank, each.local_world_size) for each in found] == [(0, 0, 2), (1, 0, 1), (0, 1, 2)]


def test_what_is_made_is_a_placement_made_like_any_other() -> None:
    (made,) = placements(CLUSTER, (Run(range(1), 0),))
    by_hand = Placement(*(getattr(made, field.name) for field in fields(Placement)))
    assert (type(made), made, hash(made), repr(made)) == (Placement, by_hand, hash(by_hand), repr(by_hand))
    with pytest.raises(FrozenInstanceError):
        made.rank = 1  # type: ignore[misc]


def test_a_process_in_several_runs_has_the_resources_of_all() -> None:
    (only,) = placements(CLUSTER, (Run(range(1), 0, first=3), Run(range(1), 0, first=0, each=2)))
    assert (only.local_hardware_ranks, only.visible_accelerators, only.local_accelerator_id) == ((3, 0, 1), ("7", "4", "5"), 3)


def test_a_process_on_several_nodes_is_on_its_first_and_sees_what_it_holds_there() -> None:
    (only,) = placements(CLUSTER, (Run(range(1), 1, first=0), Run(range(1), 0, first=3)))
    assert (only.node_rank, only.local_hardware_ranks, len(only.visible_accelerators)) == (1, (0,), 1)
