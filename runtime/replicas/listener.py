"""uvicorn on a bound socket, with limits for strangers."""

from __future__ import annotations

import asyncio
import math
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD, HEAD_LIMIT = 1 << 16, 10.0
"""Bytes and seconds for the request line and the headers, which come before the key."""


class BoundedHead(HttpToolsProtocol):
    """Connection with limits for the head of a request and for an unread body.

    uvicorn itself waits forever, and joins the parts of a header at quadratic cost.
    """

    _size = 0.0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect the first head."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing any more."""
        self._expect_nothing()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Expect the rest of a head."""
        self._expect()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Expect the body, which has a limit of its own."""
        self._expect_nothing()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Expect the end of a body that nobody reads, such as one without the key."""
        super().on_response_complete()
        if self.cycle is not None and self.cycle.response_complete and self.cycle.more_body:
            self._expect(-math.inf)

    def data_received(self, data: bytes) -> None:
        """Parse; a part that only continues a head counts."""
        deadline = self._deadline
        super().data_received(data)
        if deadline is not None and self._deadline is deadline:
            self._size += len(data)
            if self._size > LARGEST_HEAD:
                self.send_400_response(f"The head of a request has at most {LARGEST_HEAD} bytes.")

    def _expect(self, size: float = 0.0) -> None:
        self._expect_nothing()
        self._size, self._deadline = size, self.loop.call_later(HEAD_LIMIT, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


END_LIMIT = 2.0


class Listener:
    """uvicorn on a bound socket, whose port nobody else can take. Only errors are logged."""

    def __init__(self, app: Any, bound: socket.socket) -> None:
        config = uvicorn.Config(
            app, http=BoundedHead, ws="none", log_level="error", access_log=False, lifespan="off", timeout_graceful_shutdown=1
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
            _, unfinished_tasks = await asyncio.wait({self._task}, timeout=END_LIMIT)
            for task in unfinished_tasks:
                task.cancel()
        self._socket.close()
