"""Addresses, and uvicorn on a bound socket with limits for strangers."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol


def bare(host: str) -> str:
    """Strip the brackets of an IPv6 address; Ray and users write both forms."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def host_port(host: str, port: int) -> str:
    """Format ``ip:port``, with brackets around an IPv6 address."""
    host = bare(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bound(host: str, port: int = 0) -> socket.socket:
    """Return a bound TCP socket (port 0: any free). Raises OSError naming a taken address."""
    tcp_socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        tcp_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # before old connections time out
        tcp_socket.bind((host, port))
    except OSError as problem:
        tcp_socket.close()
        raise OSError(problem.errno, f"{problem.strerror}: {host_port(host, port)}") from problem
    return tcp_socket


LARGEST_HEAD, HEAD_LIMIT = 1 << 16, 10.0
"""Bytes and seconds for the request line and the headers, which come before the key."""


class BoundedHead(H11Protocol):
    """Connection with a time limit for request heads, which uvicorn itself lacks."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect the first head."""
        super().connection_made(transport)
        self._expect(True)

    def data_received(self, data: bytes) -> None:
        """Parse; expect the rest of a head that has begun."""
        super().data_received(data)
        self._expect(self.conn.their_state is h11.IDLE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._expect(False)
        super().connection_lost(exc)

    def _expect(self, head: bool) -> None:
        if not head and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif head and self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_LIMIT, self.transport.close)


END_LIMIT = 2.0


class Listener:
    """uvicorn on a bound socket, whose port nobody else can take. Only errors are logged."""

    def __init__(self, app: Any, bound: socket.socket) -> None:
        config = uvicorn.Config(
            app,
            http=BoundedHead,
            ws="none",
            log_level="error",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=LARGEST_HEAD,
        )
        self._server = uvicorn.Server(config)
        self._socket = bound
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start, and return when requests are answered."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.005)
        if self._task.done():
            self._task.result()

    async def stop(self) -> None:
        """End within two seconds, whatever is being answered."""
        self._server.should_exit = True
        if self._task is not None:
            _, unfinished = await asyncio.wait({self._task}, timeout=END_LIMIT)
            for task in unfinished:
                task.cancel()
        self._socket.close()
