"""verl's pools, standalone replicas' pools and a cluster in RLinf's words in one driver: each holds its own, and says who holds the rest."""

from __future__ import annotations

import pytest
from placewright.runtime import (
    Cluster,
    NodePlacementStrategy,
    PackedPlacementStrategy,
    RayClassWithInitArgs,
    RayResourcePool,
    RayWorkerGroup,
    ResourcePoolManager,
)
from placewright.runtime.failure import LaunchFailed

from ...fake import FakePort
from ...user_code.verl_workers import Actor


def test_a_pool_and_a_replicas_pool_take_the_node_that_a_cluster_leaves() -> None:
    port = FakePort(4, 4)
    with Cluster(num_nodes=1, port=port) as cluster:
        theirs = Actor.create_group().launch(cluster=cluster, placement_strategy=PackedPlacementStrategy(0, 3), name="rlinf")
        with RayResourcePool([2], name_prefix="actor", max_colocate_count=3, on=cluster) as pool:
            manager = ResourcePoolManager({"rollout_pool_0": [2]}, None, on=cluster)
            manager.create_resource_pool()
            groups = [RayWorkerGroup(each, RayClassWithInitArgs(Actor)) for each in (pool, manager.resource_pool_dict["rollout_pool_0"])]
            assert theirs.getenv("CUDA_VISIBLE_DEVICES").wait() == ["0", "1", "2", "3"]
            seen = [group.execute_all_sync("getenv", "CUDA_VISIBLE_DEVICES") for group in groups]
            assert seen == [["0", "1"], ["2", "3"]]
            assert {seat.node_rank for seat in pool.seats()} == {1}
            manager.close()
    assert port.left_over() == {}


def test_who_holds_what_a_pool_lacks_is_named_and_the_other_way_round() -> None:
    port = FakePort(4, 4)
    with Cluster(num_nodes=1, port=port) as cluster:
        with pytest.raises(LaunchFailed) as caught:
            RayResourcePool([4, 4], name_prefix="p", max_colocate_count=1, on=cluster).seats()
        held = cluster.reservation.name
        assert caught.value.findings[0].message == "pool `p` needs 8 accelerators, 4 of 8 are free"
        assert f"held: 4 by `{held}`" in caught.value.findings[0].notes[0]
    with RayResourcePool([1], name_prefix="p", max_colocate_count=1, on=port) as pool:
        pool.seats()
        with pytest.raises(LaunchFailed, match="`pverl_group_1:0`"):
            Cluster(port=port)
    assert port.time < 2.0
    assert port.left_over() == {}


def test_a_cluster_of_nodes_alone_leaves_nothing_for_a_pool() -> None:
    port = FakePort(2)
    with Cluster(port=port) as cluster:
        group = Actor.create_group().launch(cluster=cluster, placement_strategy=NodePlacementStrategy([0]), name="env")
        with pytest.raises(ValueError, match="pool `p` needs 1 accelerator, 0 of 2 are free"):
            RayResourcePool([1], name_prefix="p", max_colocate_count=1, on=port).seats()
        assert group.foo(1).wait() == [1]
