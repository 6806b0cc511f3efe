"""The server of one node of a replica, and how later servers find the first."""

from __future__ import annotations

import asyncio
import os
import queue
import socket
from contextlib import ExitStack, suppress
from typing import Any, Mapping, Sequence

from ..engines.engine import Engine, Meeting, engine_class
from ..engines.process import EngineProcess
from ..workers.inside.host import STANDARD_ERROR
from .channel import OPENED, Channel, ChannelFailed, Endpoint, Peer, Relay, bare, bound, host_port, own_address
from .loop import Loop
from .openai_api import Listener, Serving, build_app
from .settings import ServerSettings, sampling
from .worker import IDENTIFY, OPEN, RELEASE

JOIN = "join"
PORTS = 2
"""Number of ports that an engine may need on the first node."""


class MeetingPoint:
    """Listener on a random port until closed, plus ports reserved for the engine."""

    def __init__(self, host: str, key: str, ports: int = PORTS) -> None:
        self._joined: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        with ExitStack() as undo:
            self._held: list[socket.socket] = [undo.enter_context(bound(host)) for _ in range(ports)]
            self._ports = tuple(int(port_socket.getsockname()[1]) for port_socket in self._held)
            self._endpoint = Endpoint(self._join, host, key)
            undo.pop_all()
        self.port = int(self._endpoint.address.rpartition(":")[2])

    def others(self, wanted: int, limit: float) -> list[Peer]:
        """Wait for all headless servers; TimeoutError after `limit` s without another."""
        joined: list[Peer] = []
        with suppress(queue.Empty):
            while len(joined) < wanted:
                joined.append(self._joined.get(timeout=limit))
        if len(joined) < wanted:
            raise TimeoutError(f"{wanted - len(joined)} of {wanted} headless servers have not joined within {limit:g} s")
        return joined

    def let_go(self) -> tuple[int, ...]:
        """Free and return the engine's ports."""
        for port_socket in self._held:
            port_socket.close()
        return self._ports

    def close(self) -> None:
        """End the listener. Idempotent."""
        self.let_go()
        self._endpoint.close()

    def _join(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        """Record a server's endpoint and ranks, and return the engine's ports."""
        address, key, peer_ranks = arguments
        self._joined.put(Peer(address, key, tuple(peer_ranks)))
        return [list(self._ports)]


class Headless:
    """Part of a replica on a later node. The end of its engine closes the channel."""

    def __init__(self, loop: Loop, settings: ServerSettings, own: str) -> None:
        self._loop = loop
        self._settings = settings
        self._own = own
        self._channel: Channel | None = None
        self._relay: Relay | None = None
        self._process: EngineProcess | None = None

    def launch(self, peers: Sequence[Peer], master_address: str, master_port: int) -> None:
        """Join the master, and wait until the engine's process, if any, serves."""
        settings, limits = self._settings, self._settings.limits
        relay, ports = self._loop.run(self._join(peers, host_port(master_address, master_port)), limits.join_seconds)
        meeting = Meeting(master_address, ports, settings.node_rank, settings.nnodes)
        command = engine_class(settings.engine).headless(settings.model, settings.shape, meeting)
        if command:
            self._process = EngineProcess(command, relay.endpoint.close)
            self._process.wait(relay.opened, limits.load_seconds)

    async def _join(self, peers: Sequence[Peer], master: str) -> tuple[Relay, tuple[int, ...]]:
        settings, limit = self._settings, self._settings.limits.join_seconds
        self._channel = Channel(peers, settings.limits.call_seconds)
        await self._channel.collective_rpc(IDENTIFY, limit=limit)
        self._relay = relay = Relay(self._loop, self._channel, self._own)
        meeting = Channel([Peer(f"tcp://{master}", settings.key, (0,))])
        try:
            endpoint = [relay.endpoint.address, relay.endpoint.key, list(settings.ranks)]
            (ports,) = await meeting.collective_rpc(JOIN, endpoint, limit=limit)
        finally:
            meeting.close()
        return relay, tuple(ports)

    def close(self) -> None:
        """End the server. Idempotent."""
        if self._process is not None:
            self._process.close()
        if self._relay is not None:
            self._relay.endpoint.close()
        if self._channel is not None:
            self._loop.begin(_closed(self._channel)).result()


async def _closed(channel: Channel) -> None:
    channel.close()


RELEASE_LIMIT, END_LIMIT = 1.0, 12.0


class ReplicaServer:
    """Server actor. Methods are thread-safe; `shutdown` or the process's end stops all it started.

    Source of the methods and their order: verl, workers/rollout/vllm_rollout/vllm_async_server.py.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._own = own_address(settings.towards)
        self._host = bare(settings.host) or self._own
        self._loop = Loop()
        self._meeting: MeetingPoint | None = None
        self._channel: Channel | None = None
        self._headless: Headless | None = None
        self._socket: socket.socket | None = None
        self._listener: Listener | None = None
        self._serving: Serving | None = None
        self._address = ("", 0)

    def get_master_address(self) -> tuple[str, int]:
        """Return the master's (address, port), listening from now on."""
        if self._meeting is None:
            self._meeting = MeetingPoint(self._own, self.settings.key, PORTS if self.settings.nnodes > 1 else 0)
        return self._own, self._meeting.port

    def get_log(self) -> tuple[int, str]:
        """Return the (process id, path of the log on this node) of this server."""
        return os.getpid(), os.path.realpath(f"/proc/self/fd/{STANDARD_ERROR}")

    def get_server_address(self) -> tuple[str, int]:
        """Return (ip, port) of the HTTP endpoint; ("", 0) for a headless server."""
        return self._address

    def launch_server(self, master_address: str, master_port: int) -> None:
        """Start this node's part of the replica; return when it serves.

        Raises ChannelFailed, LaunchFailed, OSError, RuntimeError or TimeoutError.
        """
        settings = self.settings
        peers = [Peer(address, key, (rank,)) for rank, (address, key) in zip(settings.ranks, settings.workers)]
        if settings.node_rank:
            self._headless = Headless(self._loop, settings, self._own)
            self._headless.launch(peers, master_address, master_port)
            return
        self.get_master_address()
        headless_peers = self._meeting.others(settings.nnodes - 1, settings.limits.join_seconds) if self._meeting is not None else []
        self._loop.run(self._launch_master(peers, headless_peers), settings.limits.load_seconds)

    async def _launch_master(self, peers: Sequence[Peer], headless_peers: Sequence[Peer]) -> None:
        settings, limits = self.settings, self.settings.limits
        self._socket = bound(self._host, settings.port)  # a taken port fails before the load
        engine = engine_class(settings.engine)(settings.model, settings.shape)
        self._channel = channel = Channel([*peers, *headless_peers], limits.call_seconds)
        await channel.collective_rpc(IDENTIFY, limit=limits.join_seconds)
        await channel.collective_rpc(OPEN, [settings.engine, dict(settings.model), list(settings.degrees)], limit=limits.load_seconds)
        self._serving = Serving(settings.name, engine, settings.api_key, limits)  # from now on `shutdown` ends the engine too
        await engine.open(channel, self._meets())
        if headless_peers:
            await channel.collective_rpc(OPENED, ranks=[rank for peer in headless_peers for rank in peer.ranks])
        self._listener = Listener(build_app(self._serving), self._socket)
        await self._listener.start()
        self._address = (self._host, self._socket.getsockname()[1])
        self._loop.begin(self._notice_failure(channel, self._serving))

    def _meets(self) -> Meeting | None:
        if self._meeting is None or self.settings.nnodes == 1:
            return None
        return Meeting(self._own, self._meeting.let_go(), 0, self.settings.nnodes)

    @staticmethod
    async def _notice_failure(channel: Channel, serving: Serving) -> None:
        await channel.broken.wait()
        serving.failure = str(channel.failure)

    def generate(self, prompt_ids: Sequence[int], sampling_params: Mapping[str, Any], request_id: str = "") -> list[int]:
        """Return the answer tokens to prompt tokens, with the end token.

        `request_id` is accepted as in verl, and ignored. Raises ValueError for an unsupported
        sampling parameter.
        """
        engine = self._engine()
        room = self.settings.limits.default_max_tokens if engine.longest is None else engine.longest - len(prompt_ids)
        return self._loop.run(_all_of(engine.generate(list(prompt_ids), sampling(sampling_params, room))))

    def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        if self._serving is not None:
            self._loop.run(self._serving.engine.clear())

    def sleep(self) -> None:
        """Release memory, refuse requests until `wake_up`; nothing on a headless server."""
        if self._serving is not None:
            self._loop.run(self._asleep(self._serving))

    @staticmethod
    async def _asleep(serving: Serving) -> None:
        """Refuse requests during the change; stay awake if the engine cannot sleep."""
        serving.asleep = True
        try:
            await serving.engine.sleep()
        except BaseException:
            serving.asleep = False
            raise

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
            self._loop.run(self._end(), END_LIMIT)
            self._loop.close()

    async def _end(self) -> None:
        if self._listener is not None:
            await self._listener.stop()
        if self._serving is not None:
            await self._serving.engine.close()
        if self._channel is not None:
            if self._listener is not None:
                with suppress(ChannelFailed):  # a lost worker has nothing to release
                    await self._channel.collective_rpc(RELEASE, limit=RELEASE_LIMIT)
            self._channel.close()
        if self._socket is not None:
            self._socket.close()
        for owned in (self._headless, self._meeting):
            if owned is not None:
                await asyncio.get_running_loop().run_in_executor(None, owned.close)


async def _all_of(tokens: Any) -> list[int]:
    return [token async for token in tokens]
