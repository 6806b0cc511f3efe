"""Groups on pools: who is where, what each is told, how they are called, and what ends."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, split_resource_pool
from placewright.runtime.failure import LaunchFailed

from ...fake import FakePort, Fault
from ...user_code.verl_workers import Actor, Refuses, Rows

NAMES = ("WG_PREFIX", "WG_BACKEND", "MASTER_ADDR", "REDIS_STORE_SERVER_HOST", "CUDA_VISIBLE_DEVICES")


def group(port: FakePort, store: list[int], cls: Any = Actor, **named: Any) -> RayWorkerGroup:
    """A group on a pool of its own."""
    pool = RayResourcePool(store, name_prefix="p", max_colocate_count=3, on=port)
    return RayWorkerGroup(pool, RayClassWithInitArgs(cls=cls), **named)


@pytest.mark.parametrize("store", [[4, 2], [2, 4]])
def test_an_uneven_pool_has_every_rank_once_and_the_whole_world(store: list[int]) -> None:
    port = FakePort(4, 4)
    its = group(port, store, name_prefix="abc")
    assert its.world_size == len(its.workers) == 6
    assert its.execute_all_sync("getenv", "RANK") == ["0", "1", "2", "3", "4", "5"]
    assert its.execute_all_sync("getenv", "WORLD_SIZE") == ["6"] * 6
    assert its.execute_all_sync("getenv", "RAY_LOCAL_WORLD_SIZE") == [str(size) for size in store for _ in range(size)]
    assert its.worker_names == [f"abcActor_{part}:{place}" for part, size in enumerate(store) for place in range(size)]


def test_each_worker_is_told_what_verl_tells_it_and_sees_its_accelerator_alone() -> None:
    port = FakePort(8)
    its = group(port, [2], name_prefix="abc", worker_env={"test_key": "test_value"})
    told = {name: its.execute_all_sync("getenv", name) for name in NAMES}
    assert told == {
        "WG_PREFIX": ["abc"] * 2,
        "WG_BACKEND": ["ray"] * 2,
        "MASTER_ADDR": ["10.0.0.1"] * 2,
        "REDIS_STORE_SERVER_HOST": ["10.0.0.1"] * 2,
        "CUDA_VISIBLE_DEVICES": ["0", "1"],
    }
    assert its.execute_all_sync("getenv", "MASTER_PORT") == [its.master_port] * 2
    assert its.master_address == "10.0.0.1"
    assert its.execute_all_sync("getenv", key="test_key") == ["test_value"] * 2
    assert {actor.start.variables["test_key"] for actor in port.actors} == {"test_value"}


def test_what_the_group_says_cannot_be_overridden() -> None:
    port = FakePort(8)
    with pytest.raises(ValueError, match="Cannot override protected system env: CUDA_VISIBLE_DEVICES, WORLD_SIZE"):
        group(port, [2], worker_env={"WORLD_SIZE": "100", "CUDA_VISIBLE_DEVICES": "7"})
    assert port.actors == []


def test_the_place_to_meet_is_given_whole_or_not_at_all() -> None:
    its = group(FakePort(8), [2], master_addr="1.2.3.4", master_port=5555)
    assert (its.master_address, its.master_port) == ("1.2.3.4", "5555")
    assert its.execute_all_sync("getenv", "MASTER_PORT") == ["5555"] * 2
    with pytest.raises(ValueError, match="only one of `master_addr` and `master_port` is given"):
        group(FakePort(8), [2], master_addr="1.2.3.4")


def test_four_groups_have_the_same_accelerators_in_the_same_order() -> None:
    port = FakePort(8)
    with RayResourcePool([8], name_prefix="p", max_colocate_count=4, on=port) as pool:
        groups = [RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix=name) for name in ("actor", "critic", "rm", "ref")]
        for its in groups:
            assert its.execute_all_sync("get_cuda_visible_devices") == [str(rank) for rank in range(8)]
    assert port.left_over() == {}


def test_groups_on_parts_of_a_pool_have_ranks_of_their_own() -> None:
    with RayResourcePool([4, 4], name_prefix="p", max_colocate_count=1, on=FakePort(4, 4)) as pool:
        first, second = split_resource_pool(pool, [2, 6])
        one, other = (RayWorkerGroup(part, RayClassWithInitArgs(Actor, x=x)) for part, x in ((first, 0), (second, 100)))
        assert (one.world_size, other.world_size) == (2, 6)
        assert one.add(Rows([0] * 4)).numbers == [0, 0, 1, 1]
        assert other.add(Rows([0] * 6)).numbers == [100, 101, 102, 103, 104, 105]
        assert other.worker_names[0].endswith("Actor_0:2")


def test_a_group_without_a_slot_is_refused_at_once_and_has_one_when_another_ends() -> None:
    port = FakePort(8)
    with RayResourcePool([2], name_prefix="p", max_colocate_count=3, on=port) as pool:
        groups = [RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix=name) for name in "abc"]
        before = port.time
        with pytest.raises(ValueError, match=r"group `dActor` finds no slot on accelerator 0 .* all taken by `aActor`, `bActor`, `cActor`"):
            RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="d")
        assert port.time == before
        groups[1].close()
        RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="d")


def test_a_slot_is_free_when_nobody_has_the_handles_any_more() -> None:
    port = FakePort(8)
    with RayResourcePool([1], name_prefix="p", max_colocate_count=1, on=port) as pool:
        workers = RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="a").workers
        gc.collect(0)
        assert pool.seats()[0].free == 0
        port.actors.clear()
        port.by_name.clear()
        del workers
        gc.collect(1)  # the youngest two generations hold all that this test made
        assert pool.seats()[0].free == 1


def test_the_first_rank_that_fails_ends_the_start_and_leaves_the_slots() -> None:
    port = FakePort(8)
    with RayResourcePool([4], name_prefix="p", max_colocate_count=1, on=port) as pool:
        with pytest.raises(
            LaunchFailed, match="rank 1 of `xRefuses` on `host-0` could not be constructed: ValueError: no weights for rank 1"
        ):
            RayWorkerGroup(pool, RayClassWithInitArgs(Refuses), name_prefix="x")
        assert port.left_over() == {"holds": ["pverl_group_4:0"]}
        assert not any(seat.taken for seat in pool.seats())
        RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="x")


def test_a_name_that_is_taken_is_said_and_nothing_of_the_second_group_stays() -> None:
    port = FakePort(8)
    with RayResourcePool([2], name_prefix="p", max_colocate_count=2, on=port) as pool:
        first = RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="x")
        with pytest.raises(LaunchFailed, match="`xActor_0:0`"):
            RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="x")
        assert port.left_over()["actors"] == first.worker_names
        assert first.execute_all_sync("foo", 1) == [1, 1]


def test_calls_are_to_all_or_to_rank_zero_and_wait_or_not() -> None:
    its = group(FakePort(8), [4])
    port = its.port
    assert its.execute_all_sync("foo", y=3) == [3] * 4
    assert [port.answer(ticket) for ticket in its.execute_all_async("foo", y=4)] == [4] * 4
    assert [port.answer(ticket) for ticket in its.execute_all("foo", [1, 2, 3, 4])] == [1, 2, 3, 4]
    assert its.execute_rank_zero_sync("getenv", "RANK") == "0"
    assert port.answer(its.execute_rank_zero("foo", 7)) == 7
    assert [port.answer(ticket) for ticket in its.foo_one_to_all(x=1, y=2)] == [3] * 4
    assert [port.answer(ticket) for ticket in its.foo_all_to_all(x=[1, 2, 3, 4], y=[5, 6, 7, 8])] == [6, 8, 10, 12]
    assert its.foo_custom(x=[1, 2], y=[5, 6]) == [6, 8, 6, 8]
    assert its.foo_rank_zero(x=1, y=2) == 3


def test_the_first_worker_that_raises_is_named() -> None:
    its = group(FakePort(8), [4], name_prefix="x")
    with pytest.raises(LaunchFailed, match="rank 0 of `xActor` on `host-0` raised while it ran `boom`: RuntimeError") as caught:
        its.execute_all_sync("boom")
    assert caught.value.findings[0].code == "PW709"


def test_handles_are_what_others_attach_to() -> None:
    port = FakePort(8)
    its = group(port, [4])
    again = RayWorkerGroup(worker_handles=its.workers, ray_cls_with_init=RayClassWithInitArgs(Actor), on=port)
    assert (again.world_size, again.foo_rank_zero(1, 2)) == (4, 3)
    again.close()
    assert its.execute_all_sync("foo", 1) == [1] * 4
    with pytest.raises(ValueError, match="there is neither a pool nor workers to attach to"):
        RayWorkerGroup(on=port)


def test_a_group_that_sees_no_accelerators_sits_on_a_pool_of_them() -> None:
    port = FakePort(8)
    its = group(port, [2], use_gpu=False)
    assert its.execute_all_sync("get_cuda_visible_devices") == ["", ""]
    pool = RayResourcePool([2], use_gpu=False, max_colocate_count=1, on=port)
    with pytest.raises(ValueError, match=r"use_gpu is True but resource_pool\.use_gpu is False"):
        RayWorkerGroup(pool, RayClassWithInitArgs(Actor), use_gpu=True)


def test_a_call_that_waits_notices_a_node_that_is_lost_silently() -> None:
    port = FakePort(4, 4)
    its = group(port, [4, 4], name_prefix="x")
    port.slow = dict.fromkeys(its.worker_names, 60.0)
    port.later(1.0, lambda: port.lose_node(1, silently=True))
    before = port.time
    with pytest.raises(LaunchFailed) as caught:
        its.execute_all_sync("foo", 1)
    assert caught.value.findings[0].code == "PW713"
    assert port.time - before < 4


def test_a_pool_that_lost_a_node_takes_no_group() -> None:
    port = FakePort(2, 2)
    with RayResourcePool([2, 2], name_prefix="p", max_colocate_count=1, on=port) as pool:
        pool.seats()
        port.lose_node(1)
        with pytest.raises(LaunchFailed, match="group `xActor` cannot start: pool `p` has lost accelerator 0 of `host-1`, accelerator 1"):
            RayWorkerGroup(pool, RayClassWithInitArgs(Actor), name_prefix="x")
        assert port.actors == []


def test_a_closed_group_says_so() -> None:
    port = FakePort(8)
    with group(port, [2]) as its:
        pass
    its.close()
    with pytest.raises(LaunchFailed, match="no worker of"):
        its.execute_all_sync("foo", 1)
    assert port.left_over() == {"holds": ["pverl_group_2:0"]}


def test_options_of_actors_are_followed() -> None:
    port = FakePort(8)
    cia = RayClassWithInitArgs(Actor)
    cia.update_options({"num_cpus": 2, "max_concurrency": 5, "runtime_env": {"env_vars": {"A": "1"}}})
    pool = RayResourcePool([1], max_colocate_count=3, on=port)
    RayWorkerGroup(pool, cia)
    (start,) = (actor.start for actor in port.actors)
    assert (start.concurrency, dict(start.variables)) == (5, {"A": "1"})


def test_options_of_an_actor_class_are_followed_too() -> None:
    ray = pytest.importorskip("ray")
    port = FakePort(8)
    cia = RayClassWithInitArgs(ray.remote(max_concurrency=4, num_cpus=1)(Actor), x=3)
    its = RayWorkerGroup(RayResourcePool([1], max_colocate_count=3, on=port), cia)
    assert (cia.worker, cia.options) == (Actor, {"max_concurrency": 4, "num_cpus": 1})
    assert (port.actors[0].start.concurrency, its.execute_all_sync("foo", 1)) == (4, [4])


def test_unknown_parameters_and_devices_are_refused() -> None:
    port = FakePort(8)
    with pytest.raises(ValueError, match="there is no parameter `bin_packed`"):
        group(port, [2], bin_packed=True)
    with pytest.raises(ValueError, match="there are no accelerators of device `cpu`"):
        group(port, [2], device_name="cpu")
    assert port.left_over() == {}


@pytest.mark.parametrize("at", range(1, 70))
def test_whatever_call_fails_no_worker_is_left_and_no_slot_is_taken(at: int) -> None:
    port = FakePort(4)
    pool = RayResourcePool([2], name_prefix="p", max_colocate_count=1, on=port)
    seats = pool.seats()
    port.fail_at = len(port.calls) + at
    try:
        its = RayWorkerGroup(pool, RayClassWithInitArgs(Actor))
    except Fault:
        assert "actors" not in port.left_over() or port.calls[port.fail_at - 1] in ("end", "names")
        assert not any(seat.taken for seat in seats)
    else:
        port.fail_at = None
        its.close()
    pool.close()
    assert port.left_over() == {}
