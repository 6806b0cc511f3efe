"""HTTP endpoint with OpenAI's API: models, chat, completions, health."""

from __future__ import annotations

import asyncio
import hmac
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, AsyncGenerator, Callable, Coroutine, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...models.findings.wording import with_noun
from ..engines.engine import Engine, Sampling
from . import openai_format as requests
from .answers import GenerationFailed, TextPiece, WantedChoices, merge
from .channel import ChannelFailed
from .openai_format import (
    CHAT,
    COMPLETION,
    END,
    INVALID,
    NOT_FOUND,
    SERVER,
    UNAUTHORIZED,
    AnswerBody,
    Body,
    BodyKind,
    ChatRequest,
    CompletionRequest,
    GenerationRequest,
    RequestRefused,
    event,
    invalid,
)
from .settings import Limits


@dataclass
class Serving:
    """Engine and its state. `failure`: description of lost workers, "" without any; `lost`: set with it."""

    name: str
    engine: Engine
    api_key: str | None = None
    limits: Limits = field(default_factory=Limits)
    failure: str = ""
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    asleep: bool = False
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def trouble(self) -> str:
        """Reason why no answer is possible; "" if there is none."""
        return self.failure or self.engine.failure

    def check(self, model: str) -> None:
        """Check that this model can answer now. Raises RequestRefused otherwise."""
        if model != self.name:
            raise RequestRefused(404, f"the model `{model}` does not exist; this is `{self.name}`", NOT_FOUND, "model", "model_not_found")
        if self.trouble:
            raise self._failed
        if self.asleep:
            raise RequestRefused(503, "the replica is asleep", SERVER, None, "asleep")

    @property
    def _failed(self) -> RequestRefused:
        return RequestRefused(503, self.trouble, SERVER, None, "replica_failed")

    def translate(self, problem: Exception) -> RequestRefused:
        """Return the refusal after a failure of a worker, the replica, or the engine."""
        if isinstance(problem, ChannelFailed):
            status, code = (503, "replica_failed") if problem.lost else (500, "worker_failed")
            return RequestRefused(status, str(problem), SERVER, None, code)
        words = str(problem) if isinstance(problem, GenerationFailed) else f"{type(problem).__name__}: {problem}"
        return self._failed if self.trouble else RequestRefused(500, words, SERVER, None, "internal_error")

    def read_chat(self, request: ChatRequest) -> list[WantedChoices]:
        """Return the answers that a conversation requests. Raises RequestRefused."""
        self.check(request.model)
        prompt = self.engine.chat([{"role": turn.role, "content": turn.words} for turn in request.messages])
        return self._read_choices(request, [prompt], request.most, "messages")

    def read_completion(self, request: CompletionRequest) -> list[WantedChoices]:
        """Return the requested answers, prompt by prompt. RequestRefused."""
        self.check(request.model)
        prompts = [self.engine.tokenizer.encode(prompt) if isinstance(prompt, str) else prompt for prompt in request.prompts]
        size = self.engine.tokenizer.size
        if any(token >= size for prompt in prompts for token in prompt):
            raise RequestRefused(400, f"`prompt`: there are {size} tokens, numbered from 0", INVALID, "prompt", "invalid_value")
        return self._read_choices(request, prompts, request.max_tokens, "prompt")

    def _read_choices(
        self, request: GenerationRequest, prompts: Sequence[Sequence[int]], most: int | None, param: str
    ) -> list[WantedChoices]:
        if len(prompts) * request.n > self.limits.max_choices:
            choices = f"{with_noun(request.n, 'answer')} to {with_noun(len(prompts), 'prompt')}"
            message = f"`n`: {choices} are more than {self.limits.max_choices}"
            raise RequestRefused(400, message, INVALID, "n", "invalid_value")
        choices_of_prompts = []
        for prompt in prompts:
            room = self._room(len(prompt), most, param)
            for index in range(request.n):
                sampling = Sampling(room, request.temperature, request.top_p, request.seed + index)
                choices_of_prompts.append(WantedChoices(tuple(prompt), sampling, request.stops))
        return choices_of_prompts

    def _room(self, prompt: int, most: int | None, param: str) -> int:
        """Return the maximal number of tokens of the answer."""
        longest = self.engine.longest
        if longest is None:
            return most or self.limits.default_max_tokens
        if most is not None and most > longest:
            message = f"a context has at most {longest} tokens; `max_tokens` is {most}"
            raise RequestRefused(400, message, INVALID, "max_tokens", "invalid_value")
        room = longest - prompt
        if room < (most or 1):
            message = f"a context has at most {longest} tokens; {prompt} of the prompt and {most or 1} of the answer are more"
            raise RequestRefused(400, message, INVALID, param, "context_length_exceeded")
        return most or room


class KeyFirst:
    """Middleware that refuses requests below /v1 without the key, before the body is read."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._key = key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection of the ASGI server."""
        if scope["type"] == "http" and scope["path"].startswith("/v1"):
            scheme, _, token = dict(scope["headers"]).get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._key):
                refusal = RequestRefused(401, "the API key is not right", UNAUTHORIZED, None, "invalid_api_key")
                await refusal.response(scope, receive, send)
                return
        await self._app(scope, receive, send)


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
        length_header = dict(scope["headers"]).get(b"content-length", b"")
        size = int(length_header) if length_header.isdigit() else 0

        async def limit() -> Message:
            nonlocal size
            self._check(size)
            message = await receive()
            if not length_header:
                size += len(message.get("body", b""))
                self._check(size)
            return message

        await self._app(scope, limit, send)

    def _check(self, size: int) -> None:
        if size > self._most:
            raise HTTPException(413, f"the body is larger than {self._most} bytes")


CLOSED = 499
"""Status of an answer whose client hung up."""


def build_app(serving: Serving) -> FastAPI:
    """Build the application of a served engine."""
    app = FastAPI(title="placewright", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(BodyLimit, most=serving.limits.max_body_bytes)
    if serving.api_key is not None:
        app.add_middleware(KeyFirst, key=serving.api_key)
    _errors(app, serving)

    @app.get("/health")
    async def health() -> JSONResponse:
        if serving.trouble:
            return JSONResponse({"status": "failed", "reason": serving.trouble}, 503)
        return JSONResponse({"status": "asleep" if serving.asleep else "ok"})

    @app.get("/v1/models")
    async def models() -> Body:
        return {"object": "list", "data": [_model(serving)]}

    @app.get("/v1/models/{name:path}")
    async def model(name: str) -> Body:
        if name != serving.name:
            raise RequestRefused(404, f"the model `{name}` does not exist; this is `{serving.name}`", NOT_FOUND, "model", "model_not_found")
        return _model(serving)

    @app.post("/v1/chat/completions")
    async def chat(request: Request, body: ChatRequest) -> Response:
        return await _answer(serving, request, body, CHAT, serving.read_chat(body))

    @app.post("/v1/completions")
    async def completions(request: Request, body: CompletionRequest) -> Response:
        return await _answer(serving, request, body, COMPLETION, serving.read_completion(body))

    return app


def _model(serving: Serving) -> Body:
    return {"id": serving.name, "object": "model", "created": serving.created, "owned_by": "placewright"}


async def _answer(
    serving: Serving, request: Request, body: requests.GenerationRequest, kind: BodyKind, choices: Sequence[WantedChoices]
) -> Response:
    prompts = [len(answer_request.prompt) for answer_request in choices[:: body.n]]
    answer = AnswerBody(kind, serving.name, prompts)
    if body.stream:
        coming = merge(serving.engine, choices, serving.lost)

        async def begin() -> Response:
            first = await anext(coming)  # a failure before the first chunk has its own status
            events = _events(serving, answer, first, coming, body.stream_options.include_usage)
            return StreamingResponse(events, media_type="text/event-stream")

        return await _unless_disconnected(request, begin)

    async def whole() -> Response:
        async with aclosing(merge(serving.engine, choices, serving.lost)) as coming:
            async for index, piece in coming:
                answer.add(index, piece)
        return JSONResponse(answer.whole())

    return await _unless_disconnected(request, whole)


async def _events(
    serving: Serving, answer: AnswerBody, first: tuple[int, TextPiece], coming: AsyncGenerator[tuple[int, TextPiece], None], with_usage: bool
) -> AsyncGenerator[str, None]:  # fmt: skip
    """Yield the chunks of a stream; a late failure becomes the last event."""
    try:
        async with aclosing(coming):
            yield event(answer.add(*first))
            async for index, piece in coming:
                yield event(answer.add(index, piece))
    except (ChannelFailed, GenerationFailed) as problem:
        yield event(serving.translate(problem).body)
        return
    if with_usage:
        yield event(answer.last())
    yield END


async def _unless_disconnected(request: Request, work: Callable[[], Coroutine[Any, Any, Response]]) -> Response:
    """Return the result of the work; cancel it if the client hangs up."""
    task, disconnecting = asyncio.create_task(work()), asyncio.create_task(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, disconnecting}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else Response(status_code=CLOSED)
    finally:
        task.cancel()
        disconnecting.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _errors(app: FastAPI, serving: Serving) -> None:
    """Register handlers that answer every failure in OpenAI's format."""

    @app.exception_handler(RequestRefused)
    async def answer_refusal(request: Request, problem: RequestRefused) -> Response:
        return problem.response

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, problem: RequestValidationError) -> Response:
        return invalid(problem.errors()).response

    @app.exception_handler(HTTPException)
    async def answer_unknown(request: Request, problem: HTTPException) -> Response:
        kind = NOT_FOUND if problem.status_code == 404 else INVALID
        return RequestRefused(problem.status_code, f"{request.method} {request.url.path}: {problem.detail}", kind).response

    @app.exception_handler(ChannelFailed)
    @app.exception_handler(GenerationFailed)
    @app.exception_handler(Exception)
    async def answer_failure(request: Request, problem: Exception) -> Response:
        return serving.translate(problem).response
