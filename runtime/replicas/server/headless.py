"""Headless server: relays calls to its workers, and runs the engine's own process if needed."""

from __future__ import annotations

from typing import Sequence

from ...engines.engine import Meeting
from ...engines.external.process import EngineProcess
from ...engines.registry import engine_class
from ..channel.address import host_port
from ..channel.channel import Channel, Peer
from ..channel.relay import OPENED, Relay
from ..loop import Loop
from ..worker import IDENTIFY
from .meeting import JOIN
from .settings import ServerSettings


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
