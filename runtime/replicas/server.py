"""The server of one node of a replica: the first one serves, each other holds its node's part of the engine."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from contextlib import suppress
from dataclasses import astuple
from typing import Any, Coroutine, Mapping, Sequence, TypeVar

from ..engines.engine import Engine, Meeting, engine_class
from ..engines.process import EngineProcess
from .channel import Channel, ChannelFailed, Endpoint, Peer, bare, bound, own_address
from .listener import Listener
from .loop import Loop
from .openai_api import Serving, build_app
from .settings import ServerSettings, sampling
from .worker import IDENTIFY, OPEN, RELEASE

OPENED = "opened"
"""Call to the servers of the other nodes: the engine of the first one serves."""
PORTS = 2
"""Number of ports that an engine may need on the first node."""
Access = tuple[str, str]
"""Address and key of an Endpoint."""
RELEASE_LIMIT, END_LIMIT = 1.0, 12.0
Result = TypeVar("Result")


class ReplicaServer:
    """Server actor. Methods are thread-safe; `shutdown` or the process's end stops all it started.

    No method is a coroutine: in an actor with one, Ray runs all others in its event loop, where the
    launch would block them for as long as a model takes to load.

    Source of the methods and their order: verl, workers/rollout/vllm_rollout/vllm_async_server.py.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._own = own_address(settings.towards)
        self._host = bare(settings.host) or self._own
        self._loop = Loop()
        self._reserved: list[socket.socket] = []
        self._channels: list[Channel] = []  # to the workers, and to the servers of the other nodes
        self._endpoint: Endpoint | None = None
        self._opened = threading.Event()
        self._process: EngineProcess | None = None
        self._socket: socket.socket | None = None
        self._listener: Listener | None = None
        self._serving: Serving | None = None
        self._address = ("", 0)

    def get_master_address(self) -> tuple[str, tuple[int, ...]]:
        """Return (address, ports for the engine, reserved until the launch) of the first node."""
        if not self._reserved and self.settings.nnodes > 1:
            self._reserved = [bound(self._own) for _ in range(PORTS)]
        return self._own, tuple(int(port.getsockname()[1]) for port in self._reserved)

    def get_access(self) -> Access:
        """Return (address, key) of a headless server, on whose end the replica fails."""
        if self._endpoint is None:
            self._endpoint = Endpoint(self._answer, self._own)
        return self._endpoint.address, self._endpoint.key

    def _answer(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[None]:
        if method == OPENED:
            self._opened.set()
        return [None] * len(ranks)

    def get_log(self) -> tuple[int, str]:
        """Return the (process id, path of the log on this node) of this server."""
        return os.getpid(), os.path.realpath("/proc/self/fd/2")

    def get_server_address(self) -> tuple[str, int]:
        """Return (ip, port) of the HTTP endpoint; ("", 0) for a headless server."""
        return self._address

    def launch_server(self, master_address: str, ports: Sequence[int], headless: Sequence[Access] = ()) -> None:
        """Start this node's part of the replica; return when it serves.

        `headless`: access of the servers of the other nodes, in order; for the first node. Raises
        ChannelFailed, LaunchFailed, OSError, RuntimeError or TimeoutError.
        """
        settings = self.settings
        meeting = Meeting(master_address, tuple(ports), settings.node_rank, settings.nnodes) if settings.nnodes > 1 else None
        if settings.node_rank == 0:
            try:
                self._loop.run(_launch_master(self, meeting, headless), settings.limits.load_seconds)
            except asyncio.TimeoutError as problem:
                raise TimeoutError(str(problem) or f"the engine was not ready within {settings.limits.load_seconds:g} s") from problem
        elif meeting and (command := engine_class(settings.engine).headless(settings.model, settings.shape, meeting)):
            self.get_access()
            self._process = EngineProcess(command, self._close_endpoint)
            self._process.wait(self._opened, settings.limits.load_seconds)

    def _close_endpoint(self) -> None:
        if self._endpoint is not None:
            self._endpoint.close()

    def _let_go(self) -> None:
        """Free the engine's ports."""
        for port in self._reserved:
            port.close()

    def generate(self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], request_id: str = "") -> list[int]:
        """Return the answer tokens to prompt tokens, with the end token.

        `request_id` is accepted as in verl, and ignored. Raises ValueError for an unsupported
        sampling parameter.
        """
        engine = self._engine()
        room = self.settings.limits.default_max_tokens if engine.longest is None else engine.longest - len(prompt_ids)
        tokens = _all_of(engine.generate(list(prompt_ids), sampling(sampling_params, room)))
        return self._loop.run(_unless_broken(tokens, *self._channels))

    def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.clear())

    def sleep(self) -> None:
        """Release memory, refuse requests until `wake_up`; nothing on a headless server."""
        if self._serving is not None:
            self._loop.run(_asleep(self._serving))

    def wake_up(self) -> None:
        """Answer again."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.wake_up())
            self._serving.asleep = False

    def _engine(self) -> Engine:
        if self._serving is None:
            raise ValueError("a headless server generates nothing; ask the master")
        return self._serving.engine

    def shutdown(self) -> None:
        """End everything that was started here. Idempotent."""
        if not self._loop.closed:
            self._loop.run(_end(self), END_LIMIT)
            self._loop.close()


async def _launch_master(server: ReplicaServer, meeting: Meeting | None, headless: Sequence[Access]) -> None:
    settings, limits, size = server.settings, server.settings.limits, server.settings.shape.world_size // server.settings.nnodes
    server._socket = bound(server._host, settings.port)  # a taken port fails before the load
    engine = engine_class(settings.engine)(settings.model, settings.shape)
    workers = [Peer(*access, (rank,)) for rank, access in enumerate(settings.workers)]
    nodes = [Peer(*access, tuple(range(node * size, node * size + size))) for node, access in enumerate(headless, 1)]
    for peers in (workers, nodes):
        server._channels.append(Channel(peers, limits.call_seconds))
        await server._channels[-1].collective_rpc(IDENTIFY, limit=limits.join_seconds)
    channel, others = server._channels
    await channel.collective_rpc(OPEN, [settings.engine, dict(settings.model), list(astuple(settings.shape))], limit=limits.load_seconds)
    server._serving = Serving(settings.name, engine, settings.api_key, limits)  # from now on `shutdown` ends the engine too
    server._let_go()
    await _unless_broken(engine.open(channel, meeting), *server._channels)
    await others.collective_rpc(OPENED)
    server._listener = Listener(build_app(server._serving), server._socket)
    await server._listener.start()
    server._address = (server._host, server._socket.getsockname()[1])
    for broken in server._channels:
        server._loop.begin(_notice_failure(broken, channel, server._serving))


async def _notice_failure(broken: Channel, channel: Channel, serving: Serving) -> None:
    """Fail the replica and all calls under way with either channel."""
    await broken.broken.wait()
    serving.failure = serving.failure or str(broken.failure)
    serving.lost.set()
    if broken.failure is not None:
        channel.fail(broken.failure)


async def _asleep(serving: Serving) -> None:
    """Refuse requests during the change; stay awake if the engine cannot sleep."""
    serving.asleep = True
    try:
        await serving.engine.sleep()
    except BaseException:
        serving.asleep = False
        raise


async def _end(server: ReplicaServer) -> None:
    if server._listener is not None:
        await server._listener.stop()
    if server._serving is not None:
        await server._serving.engine.close()
    if server._listener is not None:
        with suppress(ChannelFailed):  # a lost worker has nothing to release
            await server._channels[0].collective_rpc(RELEASE, limit=RELEASE_LIMIT)
    for channel in server._channels:
        channel.close()
    if server._socket is not None:
        server._socket.close()
    server._let_go()
    if server._process is not None:
        await asyncio.to_thread(server._process.close)
    await asyncio.to_thread(server._close_endpoint)


async def _unless_broken(work: Coroutine[Any, Any, Result], *channels: Channel) -> Result:
    """Return the result of the work, or raise the failure of a channel."""
    tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(part) for part in (work, *(channel.broken.wait() for channel in channels))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not tasks[0].done():
            raise next(channel.failure for channel in channels if channel.failure is not None)
        result: Result = tasks[0].result()
        return result
    finally:
        for task in tasks:
            task.cancel()


async def _all_of(tokens: Any) -> list[int]:
    return [token async for token in tokens]
