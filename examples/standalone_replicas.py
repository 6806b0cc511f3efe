"""Two replicas, each a server with two workers, asked by OpenAI's client; with `vllm` and `ray.init` on a real cluster, real ones.

With `--serve` they stay until Ctrl-C, for `curl` and any other client.
"""

import asyncio
import sys
from contextlib import suppress

import ray
from openai import AsyncOpenAI
from placewright.runtime import get_replica_class, num_replicas, simulated_cluster

CONFIG = {"tensor_model_parallel_size": 2}
ASK = {"model": "tiny", "messages": [{"role": "user", "content": "Hello!"}], "max_tokens": 12, "temperature": 0}


async def main() -> None:
    """As many replicas as four accelerators allow, started at once, each asked, for a whole answer and for a stream."""
    replicas = [get_replica_class("echo")(rank, CONFIG, {"path": "made-up/tiny"}, 4) for rank in range(num_replicas(4, tp=2))]
    try:
        await asyncio.gather(*[replica.init_standalone() for replica in replicas])
        for replica in replicas:
            async with AsyncOpenAI(base_url=f"http://{replica.server_address}/v1", api_key="none") as client:
                answer = await client.chat.completions.create(**ASK)
                print(f"replica {replica.replica_rank}: {answer.choices[0].message.content!r}, {answer.usage.completion_tokens} tokens")
                chunks = await client.chat.completions.create(**ASK, stream=True)
                print(" as a stream:", "|".join([chunk.choices[0].delta.content or "" async for chunk in chunks]))
        if sys.argv[1:] == ["--serve"]:
            print("serving until Ctrl-C:", *(f"http://{replica.server_address}/v1" for replica in replicas), flush=True)
            await asyncio.Event().wait()
    finally:
        await asyncio.gather(*[replica.close() for replica in replicas])


if __name__ == "__main__":
    with simulated_cluster("1x4xH100") as address:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        try:
            with suppress(KeyboardInterrupt):
                asyncio.run(main())
        finally:
            ray.shutdown()
