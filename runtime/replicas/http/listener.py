"""Application on a port of this machine, in the running event loop."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

END_LIMIT = 2.0


class Listener:
    """uvicorn on a bound socket, whose port nobody else can take. Only errors are logged."""

    def __init__(self, app: Any, bound: socket.socket) -> None:
        config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off", timeout_graceful_shutdown=1)
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
