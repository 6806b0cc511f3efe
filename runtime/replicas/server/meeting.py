"""Rendezvous of a replica's servers: exchange of endpoints and the engine's ports."""

from __future__ import annotations

import queue
import socket
from contextlib import ExitStack, suppress
from typing import Any, Sequence

from ..channel.address import bound
from ..channel.channel import Peer
from ..channel.endpoint import Endpoint

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
