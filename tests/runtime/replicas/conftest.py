"""Replicas in this process: servers as objects, with real sockets between them and their clients."""

from __future__ import annotations

import threading
from contextlib import ExitStack, aclosing
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Callable, Iterator

import openai
import pytest
from placewright.runtime.engines.engine import EchoEngine, ReplicaShape, Sampling
from placewright.runtime.failure import LaunchFailed, failed
from placewright.runtime.replicas import server as servers_module
from placewright.runtime.replicas.listener import host_port
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.settings import ServerSettings

from ..engines import drawn  # noqa: F401  # an engine of the tests

MODEL = "tiny"


class Losses:
    """Watch and monitor in one, of processes that a test loses."""

    def __init__(self) -> None:
        self.failure: LaunchFailed | None = None

    def monitors(self) -> list[Losses]:
        return [self]

    def step(self) -> LaunchFailed | None:
        return self.failure

    def lose(self, words: str = "rank 1 died") -> None:
        self.failure = failed("PW704", "", words, "")


@dataclass
class Replica:
    """Servers, the master first; what is lost of them; and the answers of the echo that are under way."""

    servers: list[ReplicaServer]
    losses: Losses
    running: set[object]

    @property
    def url(self) -> str:
        return f"http://{host_port(*self.servers[0].get_server_address())}"

    def client(self, key: str = "any") -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0, timeout=60)


Maker = Callable[..., Replica]


def counted(running: set[object]) -> Any:
    """The generator of the echo, which notes what is under way."""
    generate = EchoEngine.generate

    async def noted(engine: EchoEngine, prompt: list[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        answer = object()
        running.add(answer)
        try:
            async with aclosing(generate(engine, prompt, sampling)) as tokens:
                async for token in tokens:
                    yield token
        finally:
            running.discard(answer)

    return noted


@pytest.fixture
def replica(monkeypatch: pytest.MonkeyPatch) -> Iterator[Maker]:
    """Starts a replica of an engine over nodes that are all this machine."""
    running: set[object] = set()
    monkeypatch.setattr(EchoEngine, "generate", counted(running))
    with ExitStack() as stack:

        def make(engine: str = "echo", tensor: int = 2, nnodes: int = 1, model: Any = None, **more: Any) -> Replica:
            losses = Losses()
            monkeypatch.setattr(servers_module, "leave", losses.lose)
            settings = [ServerSettings(engine, model or {}, MODEL, ReplicaShape(tensor), node, nnodes, **more) for node in range(nnodes)]
            servers = [ReplicaServer(of_node) for of_node in settings]
            for server in servers:
                stack.callback(server.shutdown)
            meeting = servers[0].get_master_address()
            headless = [threading.Thread(target=server.launch_server, args=meeting) for server in servers[1:]]
            for thread in headless:
                thread.start()
            servers[0].launch_server(*meeting, losses)  # type: ignore[arg-type]
            for server, thread in zip(servers[1:], headless):
                server.set_opened()
                thread.join()
            return Replica(servers, losses, running)

        yield make
