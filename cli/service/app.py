"""HTTP application of the service: key first, then size, then a free process."""

from __future__ import annotations

import asyncio
import hmac
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, Mapping

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from ...models.text.source import MAX_BYTES
from ...report.explain import pages_to_json
from ...report.page import means_code, read_page
from ...solver.advice import ADVICE
from ...solver.rules import RULES
from .asked import MOST_SECONDS, schemas
from .page import forms_page
from .workers import Crashed, Deadline, Overloaded, TimedOut, WorkerPool

MOST_BYTES = 2 * MAX_BYTES
"""Bytes of a body: a text within the limit of files, escaped."""
Answers = Callable[[Request], Awaitable[Response]]
OPEN = frozenset({"/health", "/docs", "/openapi.json"})


class KeyAndSize:
    """Middleware that refuses wrong keys and too large bodies before they are read."""

    def __init__(self, app: ASGIApp, key: str, answers: Mapping[str, Answers]) -> None:
        self._app, self._key, self._answers = app, key.encode(), answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection of the ASGI server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
        length = headers.get(b"content-length", b"")
        refusal: Response | None = None
        if self._key and scope["path"] not in OPEN and not (scheme.lower() == b"bearer" and hmac.compare_digest(key.strip(), self._key)):
            refusal = JSONResponse({"detail": "the key is missing or wrong: send `Authorization: Bearer KEY`"}, 401)
        elif scope["method"] == "POST" and not length.isdigit():
            refusal = JSONResponse({"detail": "a body needs a Content-Length"}, 411)
        elif length.isdigit() and int(length) > MOST_BYTES:
            refusal = JSONResponse({"detail": f"the body is larger than {MOST_BYTES} bytes"}, 413)
        if refusal is None and scope["method"] == "POST" and scope["path"] in self._answers:  # without FastAPI's routing: a sixth quicker
            refusal = await self._answers[scope["path"]](Request(scope, receive))
        await (self._app if refusal is None else refusal)(scope, receive, send)


def build_app(pool: WorkerPool, key: str) -> FastAPI:
    """Build the application. `key` : "" for none."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await pool.start()
        yield
        await pool.stop()

    app = FastAPI(title="placewright", summary="Verify, solve and explain placements.", docs_url=None, redoc_url=None, lifespan=lifespan)

    async def asked(request: Request) -> Response:
        path, seconds = request.url.path, pool.seconds
        if path == "/solve":
            seconds += 2 * MOST_SECONDS
        try:
            async with Deadline(pool.seconds):
                posted = await request.body()
            status, body = await pool.ask(path, posted, seconds)
        except asyncio.TimeoutError:
            return JSONResponse({"detail": f"no whole body within {pool.seconds:g} s"}, 408, {"Connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        except Overloaded:
            return JSONResponse({"detail": "too many requests are waiting"}, 503, {"Retry-After": "1"})
        except TimedOut as late:
            return JSONResponse({"detail": f"no answer within {late.seconds:g} s"}, 504)
        except Crashed:
            return JSONResponse({"detail": "the process that read this text ended; others go on"}, 500)
        return Response(body, status, media_type="application/json")

    app.add_middleware(KeyAndSize, key=key, answers=dict.fromkeys(schemas(), asked))
    for path, schema in schemas().items():
        body: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
        summary = f"{path[1:].capitalize()} a text; the answer is that of `placewright {path[1:]} --format json` for one file."
        app.add_api_route(path, asked, methods=["POST"], openapi_extra=body, summary=summary, name=path[1:])

    @app.get("/explain/{code}", summary="The page of a code.")
    async def explain(code: str) -> Response:
        if not means_code(code):
            return JSONResponse({"detail": "a code is written like PW102"}, 404)
        try:
            return Response(pages_to_json([read_page(code, (*RULES, *ADVICE))]), media_type="application/json")
        except ValueError as problem:
            return JSONResponse({"detail": str(problem)}, 404)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(forms_page(app.openapi()))

    @app.get("/health", summary="Whether the service answers, and how many requests wait.")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "waiting": pool.waiting, "processes": pool.count}

    return app
