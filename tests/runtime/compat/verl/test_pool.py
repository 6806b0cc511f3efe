"""Pools: what they hold, on which nodes, in which order, and what they give back."""

from __future__ import annotations

from typing import Any

import pytest
from placewright.runtime import RayResourcePool, ResourcePoolManager, split_resource_pool
from placewright.runtime.failure import LaunchFailed

from ...fake import FakePort, Fault


def places(pool: RayResourcePool) -> list[tuple[int, str]]:
    """(node rank, accelerator) of each place in rank order."""
    return [(seat.node_rank, seat.accelerator) for seat in pool.seats()]


def test_nothing_is_held_before_the_pool_is_used_and_then_all_in_one_reservation() -> None:
    port = FakePort(8, 8)
    pool = RayResourcePool([8, 8], name_prefix="global_pool", max_colocate_count=3, on=port)
    assert (pool.pgs, port.calls) == (None, [])
    (hold,) = pool.get_placement_groups()
    assert hold.name == "global_poolverl_group_8_8:0"
    assert [(bundle.node_id, dict(bundle.resources)) for bundle in hold.bundles] == [
        ("ray-0", {"GPU": 8, "CPU": 24}),
        ("ray-1", {"GPU": 8, "CPU": 24}),
    ]
    assert pool.get_placement_groups() == pool.pgs == [hold]
    pool.close()
    pool.close()
    assert port.left_over() == {}
    with pytest.raises(ValueError, match="pool `global_pool` has been closed"):
        pool.seats()


def test_tensor_parallel_groups_of_eight_never_cross_nodes() -> None:
    with RayResourcePool([8] * 4, max_colocate_count=1, on=FakePort(8, 8, 8, 8)) as pool:
        nodes = [node for node, _ in places(pool)]
        assert [set(nodes[start : start + 8]) for start in range(0, 32, 8)] == [{0}, {1}, {2}, {3}]
        assert [accelerator for _, accelerator in places(pool)] == [str(rank % 8) for rank in range(32)]


@pytest.mark.parametrize("store", [[4, 2], [2, 4]])
def test_parts_may_be_of_different_sizes_and_ranks_follow_their_order(store: list[int]) -> None:
    port = FakePort(4, 2)
    with RayResourcePool(store, max_colocate_count=1, on=port) as pool:
        on = {4: 0, 2: 1}
        assert places(pool) == [(on[size], str(rank)) for size in store for rank in range(size)]
        assert [seat.local_world_size for seat in pool.seats()] == [size for size in store for _ in range(size)]
    assert port.left_over() == {}


def test_a_part_goes_where_it_breaks_no_whole_node() -> None:
    port = FakePort(8, 8, 4)
    with RayResourcePool([3], max_colocate_count=1, on=port) as small, RayResourcePool([1], max_colocate_count=1, on=port) as one:
        assert places(small) == [(2, "0"), (2, "1"), (2, "2")]
        assert places(one) == [(2, "3")]
        with RayResourcePool([8, 8], max_colocate_count=1, on=port) as large:
            assert {node for node, _ in places(large)} == {0, 1}


def test_what_does_not_fit_in_the_first_order_is_tried_in_another() -> None:
    """Alone, 5 fits the node of 7 best; then the others do not fit."""
    port = FakePort(7, 9)
    with RayResourcePool([5, 4, 4, 3], max_colocate_count=1, on=port) as pool:
        assert sorted(node for node, _ in places(pool)) == [0] * 7 + [1] * 9


def test_a_part_of_a_node_is_what_ray_gave_in_ascending_order() -> None:
    port = FakePort(8)
    first, second = (RayResourcePool([2], name_prefix=name, max_colocate_count=1, on=port) for name in ("a", "b"))
    assert (places(first), places(second)) == ([(0, "0"), (0, "1")], [(0, "2"), (0, "3")])
    first.close()
    with RayResourcePool([1, 3], name_prefix="c", max_colocate_count=1, on=port) as third:
        assert places(third) == [(0, "0"), (0, "1"), (0, "4"), (0, "5")]
    second.close()
    assert port.left_over() == {}


def test_pools_without_accelerators_hold_processors_alone() -> None:
    port = FakePort(0, cpus=8)
    with RayResourcePool([4], use_gpu=False, max_colocate_count=2, on=port) as pool:
        assert places(pool) == [(0, "")] * 4
        assert dict(port.holds[0].bundles[0].resources) == {"CPU": 8}


def test_a_pool_is_split_into_consecutive_places_and_the_parts_again() -> None:
    port = FakePort(2, 2, 2, 2)
    with RayResourcePool([2, 2, 2, 2], name_prefix="p", max_colocate_count=1, on=port) as pool:
        first, middle, last = split_resource_pool(pool, [2, 4, 2])
        parts = [first, *split_resource_pool(middle, 1), last]
        assert [part.world_size for part in parts] == [2, 1, 1, 1, 1, 2]
        assert [part.start_bundle_index for part in parts] == [0, 2, 3, 4, 5, 6]
        assert [place for part in parts for place in places(part)] == places(pool)
        assert (first.name_prefix, first.store, first.pgs) == ("p_split_0", [2, 2, 2, 2], pool.pgs)
        first.close()
        assert port.left_over() == {"holds": ["pverl_group_2_2_2_2:0"]}
        with pytest.raises(ValueError, match="split_size must be a divisor of world_size: 3 does not divide 8"):
            split_resource_pool(pool, 3)
        with pytest.raises(ValueError, match=r"split_size must sum up to world_size: \[2, 2\] sums up to 4, it is 8"):
            split_resource_pool(pool, [2, 2])
    assert port.left_over() == {}


def test_a_manager_makes_pools_by_name_and_knows_which_role_is_on_which() -> None:
    port = FakePort(8, 8)
    with ResourcePoolManager(
        {"global_pool": [8], "reward_pool": [4, 4]}, {"actor": "global_pool", "rm": "reward_pool"}, on=port
    ) as manager:
        manager.create_resource_pool()
        assert manager.get_n_gpus() == 16
        assert manager.get_resource_pool("rm") is manager.resource_pool_dict["reward_pool"]
        assert manager.resource_pool_dict["global_pool"].max_colocate_count == 3
        assert port.holds == []
        manager.get_resource_pool("actor").seats()
        with pytest.raises(ValueError, match="role `critic` is on no pool; these are: `actor`, `rm`"):
            manager.get_resource_pool("critic")
    assert port.left_over() == {}


def test_pools_are_created_once_and_anew_when_they_were_closed() -> None:
    port = FakePort(8)
    manager = ResourcePoolManager({"p": [8]}, {"actor": "p"}, on=port)
    manager.create_resource_pool()
    pool = manager.get_resource_pool("actor")
    pool.seats()
    manager.create_resource_pool()
    assert manager.get_resource_pool("actor") is pool
    manager.close()
    assert port.left_over() == {}
    manager.create_resource_pool()
    assert len(manager.get_resource_pool("actor").seats()) == 8
    manager.close()


@pytest.mark.parametrize("wrong", [[True], ["8"], [2.0]])
def test_what_is_no_list_of_numbers_is_no_pool(wrong: Any) -> None:
    port = FakePort(8)
    for ask in (lambda: RayResourcePool(wrong, on=port).seats(), ResourcePoolManager({"p": wrong}, None, on=port).create_resource_pool):
        with pytest.raises(LaunchFailed) as caught:
            ask()
        assert caught.value.findings[0].code == "PW718"
    with pytest.raises(LaunchFailed, match="lets True groups share its places"):
        RayResourcePool([2], max_colocate_count=True, on=port).seats()
    assert port.left_over() == {}


@pytest.mark.parametrize("at", range(1, 40))
def test_whatever_call_fails_nothing_is_held(at: int) -> None:
    port = FakePort(8, 8, fail_at=at)
    pool = RayResourcePool([8, 3], max_colocate_count=1, on=port)
    try:
        pool.seats()
    except Fault:
        assert port.left_over() == {}
    port.fail_at = None
    pool.close()
    assert port.left_over() == {}


def test_a_pool_without_a_cluster_says_how_to_name_one() -> None:
    ray = pytest.importorskip("ray")
    if ray.is_initialized():
        pytest.skip("another test connected this process")
    with pytest.raises(LaunchFailed, match="this process is connected to no Ray cluster"):
        RayResourcePool([1]).seats()
    with pytest.raises(LaunchFailed, match="an address is HOST:PORT"):
        RayResourcePool([1], on="auto").seats()
