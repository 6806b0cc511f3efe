"""Limit of request bodies, which protects the memory of a server."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Middleware that refuses larger bodies with 413: declared ones unread, others at the limit."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection of the ASGI server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"")
        size = int(declared) if declared.isdigit() else 0

        async def limited() -> Message:
            nonlocal size
            self._check(size)
            message = await receive()
            if not declared:
                size += len(message.get("body", b""))
                self._check(size)
            return message

        await self._app(scope, limited, send)

    def _check(self, size: int) -> None:
        if size > self._most:
            raise HTTPException(413, f"the body is larger than {self._most} bytes")
