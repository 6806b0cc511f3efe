"""HTTP application of the service: key first, then size, then a free process.

A request to verify or solve meets none of FastAPI's layers: these and those of `asyncio.subprocess`
took 0.23 of the 0.53 ms of CPU of a request, on the machine where both were measured.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Mapping, NamedTuple, cast

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...models.text.source import MAX_BYTES
from ...report.explain import pages_to_json
from ...report.page import means_code
from ..pages import page_of
from .page import forms_page
from .process import MOST_SECONDS, schemas
from .workers import Crashed, Overloaded, TimedOut, WorkerPool

MOST_BYTES = 2 * MAX_BYTES
"""Bytes of a body: a text within the limit of files, escaped."""
OPEN = frozenset({"/health", "/docs", "/openapi.json"})
_KIND = (b"content-type", b"application/json")


class JsonAnswer(NamedTuple):
    """Answer of JSON, with headers beside its kind and length."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def send(self, send: Send) -> None:
        """Send the answer to the ASGI server."""
        headers = [_KIND, (b"content-length", b"%d" % len(self.body)), *self.headers]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


def _refusal(status: int, detail: str, *headers: tuple[bytes, bytes]) -> JsonAnswer:
    return JsonAnswer(status, json.dumps({"detail": detail}).encode(), headers)


class Gate:
    """ASGI application around another: refuses by key and size, and asks the processes itself."""

    def __init__(self, app: ASGIApp, key: str, pool: WorkerPool) -> None:
        self._app, self._key, self._pool, self._asked = app, key.encode(), pool, frozenset(schemas())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection of the ASGI server."""
        answer = self._refuse(scope) if scope["type"] == "http" else None
        if answer is not None:
            await answer.send(send)
        elif scope["type"] == "http" and scope["path"] in self._asked:
            try:
                await (await self._answer(scope["path"], receive)).send(send)
            except EOFError:
                return
        else:
            await self._app(scope, receive, send)

    def _refuse(self, scope: Scope) -> JsonAnswer | None:
        headers = dict(scope["headers"])
        if self._key and scope["path"] not in OPEN:
            scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(key.strip(), self._key):
                return _refusal(401, "the key is missing or wrong: send `Authorization: Bearer KEY`")
        if scope["path"] in self._asked and scope["method"] != "POST":
            return _refusal(405, f"POST a body to {scope['path']}", (b"allow", b"POST"))
        length = headers.get(b"content-length", b"")
        if scope["method"] == "POST" and not length.isdigit():
            return _refusal(411, "a body needs a Content-Length")
        if length.isdigit() and int(length) > MOST_BYTES:
            return _refusal(413, f"the body is larger than {MOST_BYTES} bytes")
        return None

    async def _answer(self, path: str, receive: Receive) -> JsonAnswer:
        pool = self._pool
        try:
            body = await _body(receive, pool.seconds)
            return JsonAnswer(*await pool.ask(path, body, pool.seconds + (2 * MOST_SECONDS if path == "/solve" else 0)))
        except asyncio.TimeoutError:
            return _refusal(408, f"no whole body within {pool.seconds:g} s", (b"connection", b"close"))
        except Overloaded:
            return _refusal(503, "too many requests are waiting", (b"retry-after", b"1"))
        except TimedOut as late:
            return _refusal(504, f"no answer within {late.args[0]:g} s")
        except Crashed:
            return _refusal(500, "the process that read this text ended; others go on")


async def _body(receive: Receive, seconds: float) -> bytes:
    """Return the body of a request.

    Raises EOFError if the client leaves before its end, asyncio.TimeoutError after `seconds`.
    """
    task, parts, message, late = asyncio.current_task(), list[bytes](), cast(Message, {"more_body": True}), False

    def stop_waiting() -> None:
        nonlocal late
        late = True
        cast("asyncio.Task[None]", task).cancel()

    # `asyncio.wait_for` makes a task of every call: a tenth of the CPU of an answer. Python 3.10 has no `asyncio.timeout`.
    timer = asyncio.get_running_loop().call_later(seconds, stop_waiting)
    try:
        while message.get("more_body", False):
            message = await receive()
            if message["type"] == "http.disconnect":
                raise EOFError
            parts.append(message.get("body", b""))
        return b"".join(parts)
    except asyncio.CancelledError:
        if not late:  # the service ends
            raise
        raise asyncio.TimeoutError from None
    finally:
        timer.cancel()


def build_app(pool: WorkerPool, key: str) -> ASGIApp:
    """Build the application. `key` : "" for none."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await pool.start()
        yield
        await pool.stop()

    app = FastAPI(title="placewright", summary="Verify, solve and explain placements.", docs_url=None, redoc_url=None, lifespan=lifespan)

    @app.get("/explain/{code}", summary="The page of a code.")
    async def explain(code: str) -> Response:
        if not means_code(code):
            return JSONResponse({"detail": "a code is written like PW102"}, 404)
        try:
            return Response(pages_to_json([page_of(code)]), media_type="application/json")
        except ValueError as problem:
            return JSONResponse({"detail": str(problem)}, 404)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(forms_page(app.openapi()))

    @app.get("/health", summary="Whether the service answers, and how many requests wait.")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "waiting": pool.waiting, "processes": pool.count}

    document = app.openapi()
    document["paths"] = {**{path: {"post": _operation(path, schema)} for path, schema in schemas().items()}, **document["paths"]}
    return Gate(app, key, pool)


def _operation(path: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a request that the gate answers, for OpenAPI."""
    name = path[1:]
    return {
        "summary": f"{name.capitalize()} a text; the answer is that of `placewright {name} --format json` for one file.",
        "operationId": name,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"description": "The answer", "content": {"application/json": {"schema": {}}}}},
    }
