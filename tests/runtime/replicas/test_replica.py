"""Replicas on a real Ray cluster of simulated nodes: answers over HTTP, over one node and two, and nothing left of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any, Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import openai
import pytest
from placewright.runtime.compat.verl.pool import RayResourcePool
from placewright.runtime.compat.verl.pool_manager import split_resource_pool
from placewright.runtime.compat.verl.worker_classes import RayClassWithInitArgs
from placewright.runtime.compat.verl.worker_group import RayWorkerGroup
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.launching import launch_replicas
from placewright.runtime.replicas.replica import EchoReplica, Replica, RolloutMode
from placewright.runtime.replicas.worker import ServesReplica
from placewright.runtime.workers.inside.host import meeting_port

from ...unhindered import unhindered

pytestmark = pytest.mark.ray
PROMPT = "Which process runs where?"
EXPECTED = PROMPT[:16]
TWO = {"tensor_model_parallel_size": 2}


@pytest.fixture
def half_free(address: str) -> Iterator[str]:
    """The cluster, with two accelerators free on each of its nodes: another job holds the others."""
    import ray

    labels = [{"placewright.node-rank": str(rank)} for rank in range(2)]
    other = ray.util.placement_group([{"GPU": 2}] * 2, bundle_label_selector=labels)
    try:
        assert other.wait(60)
        yield address
    finally:
        ray.util.remove_placement_group(other)


def client(replica: Replica) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"http://{replica.server_address}/v1", api_key="any", max_retries=0, timeout=60)


async def completed(replica: Replica) -> str:
    got = await client(replica).completions.create(model="echo", prompt=PROMPT, max_tokens=16, temperature=0)
    return got.choices[0].text


def test_a_replica_over_two_nodes_has_a_master_and_a_headless_server_and_answers_as_one_worker_does(half_free: str) -> None:
    async def run() -> None:
        async with EchoReplica(0, {"tensor_model_parallel_size": 4}, {}, gpus_per_node=2) as replica:
            await replica.init_standalone()
            assert replica.rollout_mode is RolloutMode.STANDALONE
            assert (len(replica.workers), len(replica.servers)) == (4, 2)
            nodes = [seats[0].node.node_id for seats in replica.node_seats]
            assert len(set(nodes)) == 2
            reports = [await server._placewright_report.remote() for server in replica.servers]
            assert [report["node"] for report in reports] == nodes
            assert all(len(report["environment"]["CUDA_VISIBLE_DEVICES"].split(",")) == 2 for report in reports)
            assert await completed(replica) == EXPECTED
            assert await replica.servers[1].get_server_address.remote() == ("", 0)
            tokens = await replica.server_handle.generate.remote(list(PROMPT.encode()), {"max_tokens": 16})
            assert bytes(token for token in tokens if token < 256).decode() == EXPECTED
            await replica.sleep()
            with pytest.raises(openai.InternalServerError, match="asleep"):
                await completed(replica)
            await replica.wake_up()
            assert await completed(replica) == EXPECTED
            (worker,) = [await worker._placewright_report.remote() for worker in replica.workers[3:]]
            os.kill(worker["pid"], signal.SIGKILL)
            began = unhindered()
            with pytest.raises(openai.InternalServerError, match="died, or cannot be reached"):
                await completed(replica)
            assert unhindered() - began < 2
        await replica.close()

    asyncio.run(run())


def test_a_worker_killed_while_it_streams_ends_the_stream_with_an_error_and_the_health_of_the_replica(half_free: str) -> None:
    async def run() -> None:
        long = "x" * 100_000  # what takes the echo very long to say
        async with EchoReplica(0, TWO, {}, gpus_per_node=1) as replica:  # the worker that dies is behind a headless server
            await replica.init_standalone()
            worker = await replica.workers[1]._placewright_report.remote()
            stream = await client(replica).completions.create(model="echo", prompt=long, max_tokens=len(long), stream=True)
            said = [(await anext(stream)).choices[0].text]

            async def listen() -> None:
                async for chunk in stream:
                    said.append(chunk.choices[0].text)

            os.kill(worker["pid"], signal.SIGKILL)
            killed = unhindered()
            with pytest.raises(openai.APIError, match="died, or cannot be reached"):
                await listen()
            assert unhindered() - killed < 2
            assert 0 < len("".join(said)) < len(long)
            with pytest.raises(HTTPError) as health:
                await asyncio.to_thread(urlopen, f"http://{replica.server_address}/health", timeout=30)
            assert unhindered() - killed < 2
            assert (health.value.code, json.load(health.value)["status"]) == (503, "failed")
            servers = [await server._placewright_report.remote() for server in replica.servers]
        left = [each["pid"] for each in servers]
        while any(os.path.exists(f"/proc/{pid}") for pid in left):
            assert unhindered() - killed < 10
            await asyncio.sleep(0.05)

    asyncio.run(run())


def test_more_replicas_than_fit_are_refused_at_once_with_the_arithmetic(address: str) -> None:
    async def run() -> LaunchFailed:
        replicas = [EchoReplica(rank, TWO, {}, gpus_per_node=4) for rank in range(5)]
        with pytest.raises(LaunchFailed) as caught:
            async with launch_replicas(replicas):
                pytest.fail("they were launched")
        return caught.value

    began = unhindered()
    (finding,) = asyncio.run(run()).findings
    assert unhindered() - began < 1
    assert (finding.code, finding.amount) == ("PW702", 2)
    assert finding.message.startswith("5 replicas of 2 need 10 accelerators: pool `rollout_pool` needs 10 accelerators, the cluster has 8")
    assert finding.notes[0] == "8 accelerators // 2 for each = 4 replicas"
    assert finding.help == "start 4 replicas, or more nodes"


def test_replicas_that_start_alone_at_the_same_time_share_what_there_is_and_the_last_is_refused(half_free: str) -> None:
    async def run() -> list[Any]:
        replicas = [EchoReplica(rank, TWO, {}, gpus_per_node=2) for rank in range(3)]

        async def refused_after(replica: Replica) -> float:
            began = unhindered()
            try:
                await replica.init_standalone()
            except LaunchFailed as problem:
                assert problem.findings[0].code == "PW702"
                return unhindered() - began
            return 0.0

        try:
            took = await asyncio.gather(*(refused_after(replica) for replica in replicas))
            served = [replica for replica in replicas if replica.server_address]
            got = [await client(replica).completions.create(model="echo", prompt="hi") for replica in served]
            assert [each.choices[0].text for each in got] == ["hi", "hi"]
            return [seconds for seconds in took if seconds]
        finally:
            await asyncio.gather(*(replica.close() for replica in replicas))

    (seconds,) = asyncio.run(run())
    assert seconds < 1


def trainer() -> type:
    """A class that travels by value: the workers cannot import this module."""

    class Trainer(ServesReplica):
        """A trainer whose processes serve too."""

        def train(self) -> str:
            return "trained"

    return Trainer


def test_a_trainers_processes_serve_and_stay_when_the_replica_ends(address: str) -> None:
    async def run(group: RayWorkerGroup, pool: RayResourcePool) -> None:
        async with EchoReplica(0, TWO, {}, gpus_per_node=1) as hybrid:
            await hybrid.init_hybrid(group)
            assert hybrid.workers == group.workers
            assert await completed(hybrid) == EXPECTED
            async with EchoReplica(1, TWO, {}, gpus_per_node=4) as too_far:
                with pytest.raises(ValueError, match="replica 1 needs workers 2-3 of a group on a pool; this one has 2"):
                    await too_far.init_hybrid(group)
            assert group.execute_all_sync("train") == ["trained"] * 2
        assert group.execute_all_sync("train") == ["trained"] * 2
        async with EchoReplica(0, {}, {}, gpus_per_node=4) as colocated:
            await colocated.init_colocated(split_resource_pool(pool, 1)[1])
            got = await client(colocated).completions.create(model="echo", prompt="hi")
            assert got.choices[0].text == "hi"
            assert group.execute_all_sync("train") == ["trained"] * 2

    pool = RayResourcePool([1, 1], max_colocate_count=2, name_prefix="trainer")
    with pool, RayWorkerGroup(pool, RayClassWithInitArgs(trainer())) as group:
        asyncio.run(run(group, pool))


def test_a_port_in_use_ends_the_start_and_leaves_nothing(address: str) -> None:
    async def run() -> LaunchFailed:
        async with EchoReplica(0, {}, {}, gpus_per_node=4) as first:
            await first.init_standalone()
            port = int(first.server_address.rpartition(":")[2])
            second = EchoReplica(1, {"port": port}, {}, gpus_per_node=4)
            with pytest.raises(LaunchFailed, match="Address already in use") as caught:
                await second.init_standalone()
            return caught.value

    (finding,) = asyncio.run(run()).findings
    assert finding.code == "PW742"
    pid, log = finding.witnesses
    assert f"(process {pid}) did not start: rank 0 of `echo_server_1` on `node-" in finding.message
    assert finding.help.startswith(f"read {log} on that node; ")
    assert str(log).endswith(f"-{pid}.err")


def test_a_second_replica_of_the_same_rank_is_told_so_at_once(address: str) -> None:
    async def run() -> LaunchFailed:
        async with EchoReplica(0, {}, {}, gpus_per_node=4) as first:
            await first.init_standalone()
            second = EchoReplica(0, {}, {}, gpus_per_node=4)
            began = unhindered()
            with pytest.raises(LaunchFailed, match="there is a replica 0 already") as caught:
                await second.init_standalone()
            assert unhindered() - began < 1
            assert (await client(first).completions.create(model="echo", prompt="hi")).choices[0].text == "hi"
            return caught.value

    (finding,) = asyncio.run(run()).findings
    assert (finding.code, finding.help) == ("PW717", "close that one, or give each a replica_rank of its own")


def test_a_headless_server_that_is_killed_fails_the_replica_and_the_next_has_its_port(half_free: str) -> None:
    async def run() -> None:
        port = meeting_port(os.getpid())  # one that nobody is given by chance before the next asks for it
        async with EchoReplica(0, {"port": port, **TWO}, {}, gpus_per_node=1) as replica:
            await replica.init_standalone()
            headless = await replica.servers[1]._placewright_report.remote()
            stream = await client(replica).completions.create(model="echo", prompt="x" * 50_000, max_tokens=50_000, stream=True)
            await anext(stream)
            os.kill(headless["pid"], signal.SIGKILL)
            killed = unhindered()
            with pytest.raises(openai.APIError, match="rank 1 died, or cannot be reached"):
                [chunk async for chunk in stream]
            assert unhindered() - killed < 2
        async with EchoReplica(0, {"port": port, **TWO}, {}, gpus_per_node=1) as again:
            await again.init_standalone()
            assert again.server_address.endswith(f":{port}")
            assert (await client(again).completions.create(model="echo", prompt="hi")).choices[0].text == "hi"

    asyncio.run(run())
