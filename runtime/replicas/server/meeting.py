"""Where the servers of a replica meet: the others tell the first one where they answer, and learn where its engine will."""

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
"""How many ports an engine may need on the first node."""


class MeetingPoint:
    """It listens at a random port of an address until it is closed, and holds some more for the engine until they are let go."""

    def __init__(self, host: str, key: str, ports: int = PORTS) -> None:
        self._joined: queue.SimpleQueue[Peer] = queue.SimpleQueue()
        with ExitStack() as undo:
            self._held: list[socket.socket] = [undo.enter_context(bound(host)) for _ in range(ports)]
            self._ports = tuple(int(each.getsockname()[1]) for each in self._held)
            self._endpoint = Endpoint(self._join, host, key)
            undo.pop_all()
        self.port = int(self._endpoint.address.rpartition(":")[2])

    def others(self, wanted: int, limit: float) -> list[Peer]:
        """The other servers, when all have joined. Raises TimeoutError after `limit` s without another."""
        joined: list[Peer] = []
        with suppress(queue.Empty):
            while len(joined) < wanted:
                joined.append(self._joined.get(timeout=limit))
        if len(joined) < wanted:
            raise TimeoutError(f"{wanted - len(joined)} of {wanted} headless servers have not joined within {limit:g} s")
        return joined

    def let_go(self) -> tuple[int, ...]:
        """The engine's ports, which it can take now."""
        for each in self._held:
            each.close()
        return self._ports

    def close(self) -> None:
        """Ends it. May be called twice."""
        self.let_go()
        self._endpoint.close()

    def _join(self, method: str, arguments: Sequence[Any], ranks: Sequence[int]) -> list[Any]:
        """A server says where it answers for which ranks, and is told the engine's ports."""
        address, key, its = arguments
        self._joined.put(Peer(address, key, tuple(its)))
        return [list(self._ports)]
