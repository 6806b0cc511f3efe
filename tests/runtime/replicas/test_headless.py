"""An engine with processes of its own on two nodes: a library that stands in for vLLM meets at the port that the servers agreed on."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator
from urllib.error import HTTPError
from urllib.request import urlopen

import openai
import pytest
from placewright.runtime.engines.engine import ReplicaShape
from placewright.runtime.replicas.channel import ChannelFailed
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.settings import ServerSettings

from ...unhindered import unhindered
from .conftest import MODEL, Maker

LIBRARY = """
import asyncio, json, socket
from types import SimpleNamespace

AsyncEngineArgs = SamplingParams = SimpleNamespace


class AsyncLLMEngine:
    errored = False

    @classmethod
    def from_engine_args(cls, args):
        made = cls()
        made.model_config = SimpleNamespace(max_model_len=args.max_model_len)
        with socket.create_server((args.master_addr, args.master_port)) as server:
            server.settimeout(10)
            made.other, _ = server.accept()
        made.told = json.loads(made.other.makefile().readline())
        return made

    def get_tokenizer(self):
        return Tokenizer()

    async def is_sleeping(self):
        return False

    async def generate(self, prompt, parameters, request):
        if prompt["prompt_token_ids"] == [ord("!")]:
            yield SimpleNamespace(outputs=[SimpleNamespace(token_ids=[1])])
            await asyncio.sleep(600)
        tokens = list(json.dumps(self.told).encode())
        for count in range(1, min(len(tokens), parameters.max_tokens) + 1):
            yield SimpleNamespace(outputs=[SimpleNamespace(token_ids=tokens[:count])])
        if self.told["fails"]:
            raise RuntimeError("EngineCore is dead")

    def shutdown(self):
        self.other.close()


class Tokenizer:
    eos_token_id = 0

    def __len__(self):
        return 256

    def encode(self, text):
        return list(text.encode())

    def decode(self, tokens, skip_special_tokens):
        return bytes(tokens).decode()
"""
COMMAND = """
import json, os, socket, sys, time

options = dict(each.partition("=")[::2] for each in sys.argv[3:])
if options.get("--dtype") == "wrong":
    sys.exit("there is no such dtype")
while True:
    try:
        made = socket.create_connection((options["--master-addr"], int(options["--master-port"])))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
told = {"pid": os.getpid(), "argv": sys.argv[1:4], "rank": options["--node-rank"], "fails": "--enforce-eager" in options}
made.sendall(json.dumps(told).encode() + b"\\n")
made.recv(1)
time.sleep(60)
"""
PLAIN = {"path": "org/model", "max_model_len": 4096}


@pytest.fixture(autouse=True)
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    room = tmp_path / "vllm" / "entrypoints" / "cli"
    room.mkdir(parents=True)
    (tmp_path / "vllm" / "__init__.py").write_text(LIBRARY)
    (room / "main.py").write_text(COMMAND)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield
    sys.modules.pop("vllm", None)


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def test_the_engine_of_the_first_node_meets_that_of_the_other_and_both_end_together(replica: Maker) -> None:
    made = replica("vllm", 2, 2, model=PLAIN)
    answer = made.client().completions.create(model=MODEL, prompt="who is there?", max_tokens=500)
    told = json.loads(answer.choices[0].text)
    assert (told["argv"], told["rank"]) == (["serve", "org/model", "--headless"], "1")
    for server in reversed(made.servers):
        server.shutdown()
    assert gone(told["pid"])


def test_the_replica_has_failed_when_the_process_of_the_other_node_dies(replica: Maker) -> None:
    made = replica("vllm", 2, 2, model=PLAIN)
    told = json.loads(made.client().completions.create(model=MODEL, prompt="?", max_tokens=500).choices[0].text)
    os.kill(told["pid"], signal.SIGKILL)
    killed = unhindered()
    while True:
        try:
            with urlopen(f"{made.url}/health", timeout=30):
                assert unhindered() - killed < 2
        except HTTPError as problem:
            assert problem.code == 503
            assert "rank 1 died" in json.load(problem)["reason"]
            break


def test_an_answer_that_the_engine_would_go_on_with_ends_when_a_worker_is_lost(replica: Maker) -> None:
    made = replica("vllm", 2, 2, model=PLAIN, processes=True)
    stream = made.client().completions.create(model=MODEL, prompt="!", max_tokens=500, stream=True)
    next(stream)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(made.servers[0].generate, [ord("!")], {"max_tokens": 500})
        made.workers[1].kill()
        began = unhindered()
        with pytest.raises(openai.APIError, match="rank 1 died"):
            list(stream)
        with pytest.raises(ChannelFailed, match="rank 1 died"):
            asked.result(60)
        assert unhindered() - began < 3


def test_an_engine_that_fails_in_the_middle_of_a_stream_ends_it_with_an_error(replica: Maker) -> None:
    made = replica("vllm", 2, 2, model={**PLAIN, "enforce_eager": True})
    said: list[str] = []
    stream = made.client().completions.create(model=MODEL, prompt="?", max_tokens=500, stream=True)
    with pytest.raises(openai.APIError, match="RuntimeError: EngineCore is dead"):
        said.extend(chunk.choices[0].text for chunk in stream)
    assert json.loads("".join(said))["fails"]
    with pytest.raises(openai.InternalServerError, match="EngineCore is dead"):
        made.client().completions.create(model=MODEL, prompt="?", max_tokens=500)


def test_a_process_that_does_not_start_says_why() -> None:
    server = ReplicaServer(ServerSettings("vllm", {**PLAIN, "dtype": "wrong"}, MODEL, ReplicaShape(2), 1, 2))
    try:
        with pytest.raises(RuntimeError, match="the engine's process ended with 1: there is no such dtype"):
            server.launch_server("127.0.0.1", (1, 2))
    finally:
        server.shutdown()
