"""The server of one node of a replica: the master answers over HTTP, a headless one passes its workers' answers on to the master."""

from __future__ import annotations

import asyncio
import queue
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ..engines.engine import Engine, Sampling
from ..engines.registry import engine_class
from ..engines.shape import Shape
from .channel.address import bare, host_port, listening, own_address
from .channel.channel import Channel, ChannelFailed, Peer
from .channel.endpoint import Endpoint
from .channel.relay import Relay
from .http.listener import Listener
from .http.openai_api import build_app
from .http.serving import Serving
from .loop import Loop
from .worker import IDENTIFY, OPEN, RELEASE

JOIN_LIMIT = 30.0
OPEN_LIMIT = 1800.0
"""Seconds for an engine to load its model."""
RELEASE_LIMIT, END_LIMIT = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a server must know, as plain data.

    Attributes
    ----------
    engine, model : the engine's name, and its settings.
    name : under which the model is served.
    degrees : tensor, data and pipeline parallelism.
    node_rank, nnodes : which of the replica's nodes this is, and how many there are.
    ranks : of the workers of this node, in the replica.
    workers : their (address, key), in the same order.
    host : the address on which to listen; "" is that of this node on the way to `towards`.
    port : on which the master listens; 0 is any.
    key : what headless servers must show the master.
    api_key : what clients must show; None for nothing.
    """

    engine: str
    model: Mapping[str, Any]
    name: str
    degrees: tuple[int, int, int]
    node_rank: int
    nnodes: int
    ranks: tuple[int, ...]
    workers: tuple[tuple[str, str], ...]
    key: str
    host: str = ""
    towards: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = None


class ReplicaServer:
    """An actor. Its methods may be called from several threads at once; what they start ends with `shutdown`, or with the process.

    Source of the methods and their order: verl, workers/rollout/vllm_rollout/vllm_async_server.py.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._own = own_address(settings.towards)
        self._host = bare(settings.host) or self._own
        self._loop = Loop()
        self._joined: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        self._meeting: Endpoint | None = None
        self._channel: Channel | None = None
        self._relay: Relay | None = None
        self._listener: Listener | None = None
        self._serving: Serving | None = None
        self._address = ("", 0)

    def get_master_address(self) -> tuple[str, int]:
        """(address, port) where headless servers find the master. It listens from the first call on."""
        if self._meeting is None:
            self._meeting = Endpoint(self._join, self._own, self.settings.key)
        return self._own, int(self._meeting.address.rpartition(":")[2])

    def get_server_address(self) -> tuple[str, int]:
        """(ip, port) of the HTTP endpoint; ("", 0) for a headless server."""
        return self._address

    def launch_server(self, master_address: str, master_port: int) -> None:
        """Returns when this node's part of the replica serves. Raises ChannelFailed, LaunchFailed, OSError or TimeoutError."""
        peers = [Peer(address, key, (rank,)) for rank, (address, key) in zip(self.settings.ranks, self.settings.workers)]
        if self.settings.node_rank:
            self._loop.run(self._launch_headless(peers, host_port(master_address, master_port)), JOIN_LIMIT)
            return
        peers += self._headless(self.settings.nnodes - 1)
        self._loop.run(self._launch_master(peers), OPEN_LIMIT)

    def _headless(self, wanted: int) -> list[Peer]:
        """The headless servers, when all have joined."""
        joined: list[Peer] = []
        with suppress(queue.Empty):
            while len(joined) < wanted:
                joined.append(self._joined.get(timeout=JOIN_LIMIT))
        if len(joined) < wanted:
            raise TimeoutError(f"{wanted - len(joined)} of {wanted} headless servers have not joined within {JOIN_LIMIT:g} s")
        return joined

    def _join(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        """A headless server says where it answers for which ranks."""
        address, key, its = arguments
        self._joined.put(Peer(address, key, tuple(its)))
        return [None]

    async def _launch_headless(self, peers: Sequence[Peer], master: str) -> None:
        self._channel = Channel(peers)
        await self._channel.collective_rpc(IDENTIFY, limit=JOIN_LIMIT)
        self._relay = Relay(self._loop, self._channel, self._own)
        meeting = Channel([Peer(f"tcp://{master}", self.settings.key, (0,))])
        try:
            its = [self._relay.endpoint.address, self._relay.endpoint.key, list(self.settings.ranks)]
            await meeting.collective_rpc("join", its, limit=JOIN_LIMIT)
        finally:
            meeting.close()

    async def _launch_master(self, peers: Sequence[Peer]) -> None:
        settings = self.settings
        shape = Shape(*settings.degrees)
        engine = engine_class(settings.engine)(settings.model, shape)
        self._channel = Channel(peers)
        await self._channel.collective_rpc(IDENTIFY, limit=JOIN_LIMIT)
        await self._channel.collective_rpc(OPEN, [settings.engine, dict(settings.model), list(settings.degrees)], limit=OPEN_LIMIT)
        await engine.open(self._channel)
        self._serving = Serving(settings.name, engine, settings.api_key)
        bound = listening(self._host, settings.port)
        self._listener = Listener(build_app(self._serving), bound)
        await self._listener.start()
        self._address = (self._host, bound.getsockname()[1])
        self._loop.begin(self._notice_failure(self._channel, self._serving))

    @staticmethod
    async def _notice_failure(channel: Channel, serving: Serving) -> None:
        await channel.broken.wait()
        serving.failure = str(channel.failure)

    def generate(self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any]) -> list[int]:
        """Token in, token out: the answer to a prompt. `sampling_params`: fields of Sampling, by name."""
        return self._loop.run(_all_of(self._engine().generate(list(prompt_ids), Sampling(**sampling_params))))

    def sleep(self) -> None:
        """Gives back the memory that only answering needs; requests are refused until `wake_up`. A headless server has none."""
        if self._serving is not None:
            self._serving.asleep = True
            self._loop.run(self._serving.engine.sleep())

    def wake_up(self) -> None:
        """Answers again."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.wake_up())
            self._serving.asleep = False

    def _engine(self) -> Engine:
        if self._serving is None:
            raise ValueError("a headless server generates nothing; ask the master")
        return self._serving.engine

    def shutdown(self) -> None:
        """Ends everything that was started here. May be called twice."""
        if not self._loop.closed:
            self._loop.run(self._end(), END_LIMIT)
            self._loop.close()

    async def _end(self) -> None:
        if self._listener is not None:
            await self._listener.stop()
        if self._serving is not None:
            await self._serving.engine.close()
        if self._channel is not None:
            if self._listener is not None:
                with suppress(ChannelFailed):  # a worker that is lost has nothing to give back
                    await self._channel.collective_rpc(RELEASE, limit=RELEASE_LIMIT)
            self._channel.close()
        for endpoint in (self._meeting, self._relay.endpoint if self._relay else None):
            if endpoint is not None:
                await asyncio.get_running_loop().run_in_executor(None, endpoint.close)


async def _all_of(tokens: Any) -> list[int]:
    return [token async for token in tokens]
