"""How many replicas there could be, told where more are asked for: counted in the resource that their pool asks for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.engine_replica import EchoReplica
from placewright.runtime.replicas.launching import reserve_replicas
from placewright.runtime.verl.pools import pool

from ..fake import FakePort


def refused(port: FakePort) -> LaunchFailed:
    """Of five replicas of two accelerators."""
    replicas = [EchoReplica(rank, {"tensor_model_parallel_size": 2}, {}, gpus_per_node=4, on=port) for rank in range(5)]
    with pytest.raises(LaunchFailed) as caught:
        asyncio.run(reserve_replicas(replicas))
    assert port.left_over() == {}
    return caught.value


def test_accelerators_of_another_maker_beside_them_do_not_count() -> None:
    port = FakePort(4, 4)
    port.alive = {name: replace(node, total={**node.total, "NPU": 8.0}) for name, node in port.alive.items()}
    (finding,) = refused(port).findings
    assert finding.message.startswith("5 replicas of 2 need 10 accelerators: pool `rollout_pool` needs 10 accelerators, the cluster has 8")
    assert (finding.notes[0], finding.help) == ("8 accelerators // 2 for each = 4 replicas", "start 4 replicas, or more nodes")


def test_those_that_ray_does_not_call_gpu_count_where_the_pool_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "resource_of", lambda device: "NPU")
    port = FakePort(0, 0)
    port.alive = {name: replace(node, total={**node.total, "NPU": 4.0}) for name, node in port.alive.items()}
    (finding,) = refused(port).findings
    assert finding.notes[0] == "8 accelerators // 2 for each = 4 replicas"
