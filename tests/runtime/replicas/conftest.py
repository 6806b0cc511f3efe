"""Replicas in this process: workers and servers as objects, with real sockets between them and to their clients."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import openai
import pytest
from placewright.runtime.engines.engine import ReplicaShape
from placewright.runtime.replicas.channel import host_port
from placewright.runtime.replicas.server import ReplicaServer
from placewright.runtime.replicas.settings import ServerSettings
from placewright.runtime.replicas.worker import ReplicaWorker

from ..engines import transformer  # noqa: F401  # an engine of the tests

MODEL = "tiny"
WORKER = (
    "import sys\n"
    "from placewright.runtime.replicas.worker import ReplicaWorker\n"
    "worker = ReplicaWorker()\n"
    "print(worker.get_zeromq_address(), worker.get_zeromq_key(), flush=True)\n"
    "sys.stdin.read()"
)


@dataclass
class Replica:
    """Servers, the master first, and the workers or processes behind them."""

    servers: list[ReplicaServer]
    workers: list[Any]

    @property
    def url(self) -> str:
        return f"http://{host_port(*self.servers[0].get_server_address())}"

    def client(self, key: str = "any") -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=key, max_retries=0, timeout=60)


Maker = Callable[..., Replica]


@pytest.fixture
def replica() -> Iterator[Maker]:
    """Starts a replica of an engine over nodes that are all this machine; `processes`: workers are processes of their own."""
    with ExitStack() as stack:

        def make(
            engine: str = "echo", tensor: int = 2, nnodes: int = 1, processes: bool = False, model: Any = None, **more: Any
        ) -> Replica:
            workers: list[Any] = []
            accesses = []
            for _ in range(tensor):
                worker = process(stack) if processes else ReplicaWorker()
                workers.append(worker)
                if processes:
                    accesses.append(tuple(worker.stdout.readline().split()))
                else:
                    towards = "127.0.0.1" if nnodes > 1 else ""
                    accesses.append((worker.get_zeromq_address(towards), worker.get_zeromq_key(towards)))
                    stack.callback(worker._endpoint.close)
            servers = []
            for node in range(nnodes):
                workers_called = () if node else tuple(accesses)
                settings = ServerSettings(engine, model or {}, MODEL, ReplicaShape(tensor), node, nnodes, workers_called, **more)
                servers.append(ReplicaServer(settings))
                stack.callback(servers[-1].shutdown)
            meeting = servers[0].get_master_address()
            others = [server.get_access() for server in servers[1:]]
            headless = [threading.Thread(target=server.launch_server, args=meeting) for server in servers[1:]]
            for thread in headless:
                thread.start()
            servers[0].launch_server(*meeting, others)
            for thread in headless:
                thread.join()
            return Replica(servers, workers)

        yield make


def process(stack: ExitStack) -> Any:
    made = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.callback(made.wait)
    stack.callback(made.kill)
    for stream in (made.stdin, made.stdout):
        stack.callback(stream.close)  # type: ignore[union-attr]
    return made
