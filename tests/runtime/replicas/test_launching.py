"""How many replicas there could be, told where more are asked for: counted in the resource that their pool asks for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from placewright.runtime.compat.verl import pool
from placewright.runtime.compat.verl.pool import RayResourcePool
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.launching import reserve_replicas
from placewright.runtime.replicas.replica import EchoReplica

from ..fake import FakePort


def replicas_of_two(port: FakePort, count: int) -> list[EchoReplica]:
    return [EchoReplica(rank, {"tensor_model_parallel_size": 2}, {}, gpus_per_node=4, on=port) for rank in range(count)]


def refused(port: FakePort, count: int = 5) -> LaunchFailed:
    """Of replicas of two accelerators."""
    with pytest.raises(LaunchFailed) as caught:
        asyncio.run(reserve_replicas(replicas_of_two(port, count)))
    return caught.value


def test_accelerators_of_another_maker_beside_them_do_not_count() -> None:
    port = FakePort(4, 4)
    port.alive = {name: replace(node, total={**node.total, "NPU": 8.0}) for name, node in port.alive.items()}
    (finding,) = refused(port).findings
    assert port.left_over() == {}
    assert finding.message.startswith("5 replicas of 2 need 10 accelerators: pool `rollout_pool` needs 10 accelerators, the cluster has 8")
    assert (finding.notes[0], finding.help) == ("8 accelerators // 2 for each = 4 replicas", "start 4 replicas, or more nodes")


def test_those_that_ray_does_not_call_gpu_count_where_the_pool_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "resource_of", lambda device: "NPU")
    port = FakePort(0, 0)
    port.alive = {name: replace(node, total={**node.total, "NPU": 4.0}) for name, node in port.alive.items()}
    (finding,) = refused(port).findings
    assert finding.notes[0] == "8 accelerators // 2 for each = 4 replicas"


def test_what_others_hold_is_not_mended_by_fewer_replicas_than_one() -> None:
    port = FakePort(4)
    held = asyncio.run(reserve_replicas(replicas_of_two(port, 1)[:1]))
    other = RayResourcePool([2], name_prefix="other", max_colocate_count=1, on=port)
    other.seats()
    (finding,) = refused(port, 1).findings
    assert finding.message == "1 replica of 2 needs 2 accelerators: pool `rollout_pool` needs 2 accelerators, 0 of 4 are free"
    assert finding.help == "wait for what holds them, or end it"
    for each in (held, other):
        each.close()
    assert port.left_over() == {}
