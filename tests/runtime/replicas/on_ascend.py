"""A program of its own, for a process connects to one cluster: two replicas on a node of Ascend's accelerators; prints what each process sees."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import openai
import ray
from placewright.models.machines.shorthand import read_shorthand
from placewright.runtime.replicas.launching import launch_replicas
from placewright.runtime.replicas.replica import EchoReplica
from placewright.runtime.simulated.simulate import SimulatedCluster

TWO = {"tensor_model_parallel_size": 2}


async def seen(actor: Any) -> list[str | None]:
    """The variables of CUDA and of Ascend, in a process."""
    environment = (await actor._placewright_report.remote())["environment"]
    return [environment.get(name) for name in ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")]


async def main() -> None:
    """Launches them, without a word of their device, and asks each."""
    async with launch_replicas([EchoReplica(rank, TWO, {}, 4) for rank in range(2)]) as replicas:
        for replica in replicas:
            client = openai.AsyncOpenAI(base_url=f"http://{replica.server_address}/v1", api_key="any", max_retries=0)
            answer = (await client.completions.create(model="echo", prompt="hi")).choices[0].text
            print(json.dumps([answer, *[await seen(actor) for actor in (*replica.workers, replica.server_handle)]]))


if __name__ == "__main__":
    cluster = SimulatedCluster()
    try:
        ray.init(cluster.start(read_shorthand("1x4x910B").nodes, {0: 8}), log_to_driver=False, logging_level="ERROR")
        asyncio.run(main())
    finally:
        ray.shutdown()
        cluster.stop()
