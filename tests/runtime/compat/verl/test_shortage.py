"""What verl waits for without an end, or fails at with half the sum: said within a second, with need, have and holders; nothing left."""

from __future__ import annotations

from typing import Callable

import pytest
from placewright.runtime import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup, ResourcePoolManager
from placewright.runtime.failure import LaunchFailed

from ...fake import FakePort
from ...user_code.verl_workers import Actor

LIMIT = 1.0
Case = Callable[[FakePort], object]


def pool(port: FakePort, store: list[int], name: str = "p", slots: int = 3, **named: object) -> RayResourcePool:
    return RayResourcePool(store, name_prefix=name, max_colocate_count=slots, on=port, **named)  # type: ignore[arg-type]


def manager(port: FakePort, **spec: list[int]) -> None:
    ResourcePoolManager(spec, None, on=port).create_resource_pool()


def replicas(port: FakePort, count: int) -> None:
    """Standalone replicas of two accelerators, one after the other, as verl makes them."""
    for rank in range(count):
        made = ResourcePoolManager({f"rollout_pool_{rank}": [2]}, None, on=port)
        made.create_resource_pool()
        made.resource_pool_dict[f"rollout_pool_{rank}"].seats()


def groups(port: FakePort, count: int) -> None:
    its = pool(port, [8])
    for name in "abcdefg"[:count]:
        port.groups = [*getattr(port, "groups", []), RayWorkerGroup(its, RayClassWithInitArgs(Actor), name_prefix=name)]  # type: ignore[attr-defined]


def same_name(port: FakePort) -> None:
    pool(port, [2]).seats()
    pool(port, [2]).seats()


def held(port: FakePort, first: list[int], second: list[int]) -> None:
    pool(port, first, "theirs", 1).seats()
    pool(port, second, "mine", 1).seats()


CASES: dict[str, tuple[FakePort, Case, str, str, set[str]]] = {
    "a manager's pool is bigger than the cluster": (
        FakePort(8), lambda port: manager(port, global_pool=[8, 8]),
        "PW702", "pool `global_pool` needs 16 accelerators, the cluster has 8", set(),
    ),
    "two pools together are bigger than the cluster": (
        FakePort(8), lambda port: manager(port, actor_pool=[6], reward_pool=[4]),
        "PW702", "pool `actor_pool`, `reward_pool` needs 10 accelerators, the cluster has 8", set(),
    ),
    "a pool is bigger than the cluster": (
        FakePort(8), lambda port: pool(port, [16]).seats(), "PW702", "pool `p` needs 16 accelerators, the cluster has 8", set(),
    ),
    "eight processors for eight accelerators with three slots": (
        FakePort(8, cpus=8), lambda port: pool(port, [8]).seats(),
        "PW702", "pool `p` needs 24 CPUs (3 with each accelerator, its max_colocate_count), the cluster has 8", set(),
    ),
    "processors enough in all, but not on one node": (
        FakePort(8, 8, cpus=16), lambda port: pool(port, [8]).seats(),
        "PW702", "a part of pool `p` needs 24 CPUs on one node (3 with each accelerator, its max_colocate_count), no node has more than 16", set(),
    ),
    "a part that is bigger than every node": (
        FakePort(4, 4), lambda port: pool(port, [8]).seats(),
        "PW702", "a part of pool `p` needs 8 accelerators on one node, no node has more than 4", set(),
    ),
    "parts that fit one by one": (
        FakePort(4, 4), lambda port: pool(port, [3, 3, 2]).seats(),
        "PW702", "the parts [3, 3, 2] of pool `p` do not fit the nodes together", set(),
    ),
    "the fifth replica of two on eight": (
        FakePort(8), lambda port: replicas(port, 5), "PW702", "pool `rollout_pool_4` needs 2 accelerators, 0 of 8 are free",
        {f"rollout_pool_{rank}verl_group_2:0" for rank in range(4)},
    ),
    "a pool that others hold": (
        FakePort(8), lambda port: held(port, [3], [6]), "PW702", "pool `mine` needs 6 accelerators, 5 of 8 are free",
        {"theirsverl_group_3:0"},
    ),
    "what is free is in pieces": (
        FakePort(4, 4), lambda port: held(port, [2, 3], [3]),
        "PW702", "a part of pool `mine` needs 3 accelerators on one node, no node has more than 2 free", {"theirsverl_group_2_3:0"},
    ),
    "a name that is taken": (
        FakePort(8), same_name, "PW717", "there is a reservation `pverl_group_2:0` already", {"pverl_group_2:0"},
    ),
    "a fourth group on three slots": (
        FakePort(8), lambda port: groups(port, 4), "PW702",
        "group `dActor` finds no slot on accelerator 0 of `host-0`: pool `p` has 3 for each place, all taken by `aActor`, `bActor`, `cActor`",
        {"pverl_group_8:0"},
    ),
    "a device that no node has": (
        FakePort(8), lambda port: pool(port, [2]).get_placement_groups(device_name="cpu"),
        "PW718", "there are no accelerators of device `cpu`", set(),
    ),
    "a device of another maker": (
        FakePort(8), lambda port: pool(port, [2]).get_placement_groups(device_name="npu"),
        "PW702", "pool `p` needs 2 accelerators, the cluster has 0", set(),
    ),
    "a model that no node has": (
        FakePort(8), lambda port: pool(port, [2], accelerator_type="H100").seats(),
        "PW702", "pool `p` needs 0.0002 `accelerator_type:H100`, the cluster has 0", set(),
    ),
    "an empty pool": (FakePort(8), lambda port: pool(port, []).seats(), "PW718", "pool `p` is empty", set()),
    "a part without a place": (
        FakePort(8), lambda port: pool(port, [8, 0]).seats(), "PW718", "pool `p` is [8, 0]: it has no place for a worker on some node", set(),
    ),
    "no slot at all": (FakePort(8), lambda port: pool(port, [8], slots=0).seats(), "PW718", "pool `p` lets 0 groups share its places", set()),
    "no node at all": (FakePort(), lambda port: pool(port, [1]).seats(), "PW702", "pool `p` needs 1 accelerator, the cluster has 0", set()),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_said_within_a_second_and_nothing_of_it_is_left(name: str) -> None:
    port, case, code, message, left = CASES[name]
    with pytest.raises(LaunchFailed) as caught:
        case(port)
    (finding,) = caught.value.findings
    assert (finding.code, finding.message) == (code, message)
    assert finding.help
    assert isinstance(caught.value, ValueError) or code == "PW717"
    assert port.time < LIMIT
    assert set(port.left_over().get("holds", [])) == left


def test_what_is_free_is_not_told_where_the_cluster_is_too_small_even_if_nobody_held_anything() -> None:
    port = FakePort(4, 4)
    pool(port, [4], "theirs").seats()
    with pytest.raises(LaunchFailed) as caught:
        pool(port, [4, 4, 4]).seats()
    assert caught.value.findings[0].notes == ("`host-0`: 4 accelerators, 64 CPUs", "`host-1`: 4 accelerators, 64 CPUs")


def test_where_processors_are_short_fewer_may_come_with_each_accelerator() -> None:
    helps = []
    for port, parts in ((FakePort(8, cpus=8), [8]), (FakePort(8, 8, cpus=16), [8]), (FakePort(8), [16])):
        with pytest.raises(LaunchFailed) as caught:
            pool(port, parts).seats()
        helps.append(caught.value.findings[0].help)
    assert helps == [
        "lower max_colocate_count; or ask for a smaller pool, or start more nodes",
        "lower max_colocate_count; or give the pool parts that fit one node",
        "ask for a smaller pool, or start more nodes",
    ]
    port = FakePort(8, cpus=24)
    pool(port, [4], "theirs").seats()
    with pytest.raises(LaunchFailed, match="help: lower max_colocate_count; or wait for what holds them, or end it"):
        pool(port, [4], slots=6).seats()


def test_every_node_is_told_with_who_holds_what() -> None:
    port = FakePort(8, 4)
    with pytest.raises(LaunchFailed) as caught:
        held(port, [8], [5])
    assert caught.value.findings[0].notes == (
        "`host-0`: 0 of 8 accelerators free, 56 of 64 CPUs, held: 8 by `theirsverl_group_8:0`",
        "`host-1`: 4 of 4 accelerators free, 64 of 64 CPUs",
    )
    assert str(caught.value).splitlines() == [
        "pool `mine` needs 5 accelerators, 4 of 12 are free",
        *caught.value.findings[0].notes,
        "help: wait for what holds them, or end it",
    ]


def test_what_becomes_free_in_time_is_taken() -> None:
    port = FakePort(8)
    theirs = pool(port, [8], "theirs")
    theirs.seats()
    port.later(0.3, theirs.close)
    assert len(pool(port, [8], "mine").seats()) == 8
    assert 0.3 <= port.time < LIMIT


def test_one_that_was_faster_makes_the_pool_choose_again() -> None:
    port = FakePort(4, 4)
    asked, other = port.hold, pool(port, [4], "other", 1)

    def hold(*arguments: object, **named: object) -> object:
        port.hold = asked  # type: ignore[method-assign]
        other.seats()
        return asked(*arguments, **named)  # type: ignore[arg-type]

    port.hold = hold  # type: ignore[assignment, method-assign]
    mine = pool(port, [4], "mine", 1)
    assert {seat.node_rank for seat in mine.seats()} == {1}
    assert port.time < 2 * LIMIT
    mine.close()
    other.close()
    assert port.left_over() == {}
