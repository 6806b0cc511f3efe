"""Servers on the nodes after the first, and how they find the first one."""

from __future__ import annotations

import queue
import socket
from contextlib import ExitStack, suppress
from typing import Any, Sequence

from ...engines.engine import Meeting
from ...engines.external.process import EngineProcess
from ...engines.registry import engine_class
from ..channel.address import bound, host_port
from ..channel.channel import OPENED, Channel, Peer, Relay
from ..channel.endpoint import Endpoint
from ..loop import Loop
from ..worker import IDENTIFY
from .settings import ServerSettings

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
        """Wait for all headless servers and return them.

        Raises TimeoutError after `limit` s without another.
        """
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
    """Part of a replica on a node other than the first.

    The end of the engine's process closes the channel, which the master notices.
    """

    OPENED = OPENED
    """Call of the master once its engine serves."""

    def __init__(self, loop: Loop, settings: ServerSettings, own: str) -> None:
        self._loop = loop
        self._settings = settings
        self._own = own
        self._channel: Channel | None = None
        self._relay: Relay | None = None
        self._process: EngineProcess | None = None

    def launch(self, peers: Sequence[Peer], master_address: str, master_port: int) -> None:
        """Join the master, and wait until the engine's process, if any, serves.

        Raises as ReplicaServer.launch_server.
        """
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
