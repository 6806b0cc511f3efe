"""A fault at every call of the port while two replicas are launched together: the first failure ends both, and nothing is left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from placewright.runtime import RayClassWithInitArgs
from placewright.runtime.replicas.launching import launch_replicas
from placewright.runtime.replicas.loop import run_in_thread
from placewright.runtime.replicas.replica import EchoReplica

from ..user_code.verl_workers import Actor
from .everywhere import carries, outcomes


class WithoutServers(EchoReplica):
    """Has workers, and calls them once instead of starting servers."""

    def get_ray_class_with_init_args(self) -> RayClassWithInitArgs:
        return RayClassWithInitArgs(cls=Actor)

    async def launch_servers(self) -> None:
        assert self.worker_group is not None
        assert await run_in_thread(self.worker_group.execute_all_sync, "getenv", "RANK") == ["0", "1"]


def two_replicas(port: Any) -> None:
    async def run() -> None:
        replicas = [WithoutServers(rank, {"tensor_model_parallel_size": 2}, {}, gpus_per_node=2, on=port) for rank in range(2)]
        async with launch_replicas(replicas):
            pass

    asyncio.run(run())


@pytest.mark.parametrize("after", [False, True])
def test_nothing_is_left_wherever_it_fails(after: bool) -> None:
    seen = []
    for call, problem, port in outcomes(two_replicas, after=after):
        assert carries(problem, Exception), (call, len(seen) + 1)
        if (call, after) != ("hold", True):  # what is held without our knowing ends with the connection, which is not of the port
            assert port.left_over() == {}, (call, len(seen) + 1)
        seen.append(call)
    assert {"nodes", "hold", "start", "answer", "release"} <= set(seen)
