"""Requests, answers and errors in OpenAI's format."""

from __future__ import annotations

import json
import secrets
import time
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Mapping, Sequence

from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from .answers import TextPiece

MOST_STOPS = 4
"""Maximal number of stop strings, as in OpenAI's API."""
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "logprobs": (False, 0), "top_logprobs": (0,), "echo": (False,), "best_of": (1,), "suffix": ("",), "tools": ([],), "tool_choice": ("none",),
    "parallel_tool_calls": (True, False), "presence_penalty": (0,), "frequency_penalty": (0,), "logit_bias": ({},),
    "response_format": ({"type": "text"},), "modalities": (["text"],),
}  # fmt: skip
"""Neutral values of unsupported fields."""
_WITHOUT_EFFECT = frozenset(
    {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "reasoning_effort", "verbosity"}
)

Stop = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Token = Annotated[int, Field(ge=0)]


class TextPart(BaseModel):
    """Part of a turn."""

    model_config = ConfigDict(extra="forbid")
    type: Literal["text"]
    text: str


class ChatTurn(BaseModel):
    """Turn of a conversation."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart] | None

    @property
    def words(self) -> str:
        """Whole text."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content or ())

    @model_validator(mode="after")
    def _has_content(self) -> ChatTurn:
        if self.content is None and self.role != "assistant":
            raise ValueError("only the content of an assistant may be null")
        return self


class StreamOptions(BaseModel):
    """Optional contents of a stream."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class GenerationRequest(BaseModel):
    """Common fields of requests. `temperature` 0 is greedy; else equal `seed`, equal answer."""

    model_config = ConfigDict(extra="forbid", strict=True)  # else `true` is 1
    model: str
    temperature: float = Field(1.0, ge=0, le=2)
    top_p: float = Field(1.0, gt=0, le=1)
    n: int = Field(1, ge=1)
    stop: Stop | Annotated[list[Stop], Field(max_length=MOST_STOPS)] = Field(default_factory=list)
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    seed: int = Field(default_factory=lambda: secrets.randbits(32))

    @model_validator(mode="before")
    @classmethod
    def _drop_neutral(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {
            name: value
            for name, value in data.items()
            if value is not None and name not in _WITHOUT_EFFECT and value not in _NEUTRAL.get(name, ())
        }

    @property
    def stops(self) -> tuple[str, ...]:
        """Stop strings."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)


class ChatRequest(GenerationRequest):
    """Request for the next turn of a conversation."""

    messages: Annotated[list[ChatTurn], Field(min_length=1)]
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)

    @property
    def most(self) -> int | None:
        """Maximal tokens of an answer, by the newer name or the older; default None."""
        return self.max_completion_tokens or self.max_tokens


class CompletionRequest(GenerationRequest):
    """Request to continue texts, given as strings or tokens."""

    prompt: str | Annotated[list[str], Field(min_length=1)] | Annotated[list[Token], Field(min_length=1)] | Annotated[
        list[Annotated[list[Token], Field(min_length=1)]], Field(min_length=1)
    ]  # fmt: skip
    max_tokens: int = Field(16, ge=1)

    @property
    def prompts(self) -> list[str | list[int]]:
        """Prompts, as text or tokens."""
        if isinstance(self.prompt, str):
            return [self.prompt]
        if isinstance(self.prompt[0], int):
            return [[token for token in self.prompt if isinstance(token, int)]]
        return [prompt for prompt in self.prompt if not isinstance(prompt, int)]


INVALID, SERVER, NOT_FOUND, UNAUTHORIZED = "invalid_request_error", "server_error", "not_found_error", "authentication_error"


class RequestRefused(Exception):
    """Request that cannot be served, with the status and the fields of the error."""

    def __init__(self, status: int, message: str, type: str, param: str | None = None, code: str | None = None) -> None:
        self.status = status
        self.body = {"error": {"message": message, "type": type, "param": param, "code": code}}
        super().__init__(message)

    @property
    def response(self) -> Response:
        """HTTP response, also to a request with unpaired surrogates."""
        return Response(json.dumps(self.body), self.status, media_type="application/json")


def invalid(problems: Sequence[Any]) -> RequestRefused:
    """Convert pydantic's problems; the first is reported in full."""
    first = problems[0]
    if first["type"] == "json_invalid":
        return RequestRefused(400, f"the body is not JSON: {first['msg']}", INVALID, None, "invalid_json")
    place = [str(part) for part in first["loc"] if part != "body"]
    param = place[0] if place else None
    if first["type"] == "extra_forbidden":
        return RequestRefused(400, f"`{'.'.join(place)}` is not supported here", INVALID, param, "unsupported_parameter")
    prefix = f"`{'.'.join(place)}`: " if place else ""
    return RequestRefused(400, f"{prefix}{first['msg']}", INVALID, param, "invalid_value")


Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BodyKind:
    """Format of an endpoint: object names, and whether the text of a choice is in a message."""

    prefix: str
    whole: str
    part: str
    in_message: bool = False

    def choice(self, index: int, text: str, reason: str | None) -> Body:
        """Build a complete choice."""
        message = {"role": "assistant", "content": text, "refusal": None}
        place = {"message": message} if self.in_message else {"text": text}
        return {"index": index, **place, "logprobs": None, "finish_reason": reason}

    def delta(self, index: int, text: str, reason: str | None, first: bool) -> Body:
        """Build a chunk of a choice; `first`: nothing was sent before."""
        delta = ({"role": "assistant"} if first else {}) | ({"content": text} if text or first else {})
        place = {"delta": delta} if self.in_message else {"text": text}
        return {"index": index, **place, "logprobs": None, "finish_reason": reason}


CHAT = BodyKind("chatcmpl", "chat.completion", "chat.completion.chunk", True)
COMPLETION = BodyKind("cmpl", "text_completion", "text_completion")


class AnswerBody:
    """Answer to a request: identifier, collected text, and token counts."""

    def __init__(self, kind: BodyKind, model: str, prompts: Sequence[int]) -> None:
        self._kind = kind
        self._head = {"id": f"{kind.prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._prompt_tokens = sum(prompts)
        self._texts: dict[int, str] = {}
        self._reasons: dict[int, str | None] = {}
        self._tokens: dict[int, int] = {}

    def add(self, index: int, piece: TextPiece) -> Body:
        """Add a piece and return its chunk."""
        first = index not in self._texts
        self._texts[index] = self._texts.get(index, "") + piece.text
        self._reasons[index], self._tokens[index] = piece.reason, piece.tokens
        return self._body(self._kind.part, [self._kind.delta(index, piece.text, piece.reason, first)])

    def whole(self) -> Body:
        """Return the complete answer."""
        choices = [self._kind.choice(index, text, self._reasons[index]) for index, text in sorted(self._texts.items())]
        return self._body(self._kind.whole, choices) | {"usage": self.usage()}

    def last(self) -> Body:
        """Return the final chunk, with only the usage."""
        return self._body(self._kind.part, []) | {"usage": self.usage()}

    def usage(self) -> Mapping[str, int]:
        """Return the number of tokens of the prompts, of the answers, and in total."""
        answer_tokens = sum(self._tokens.values())
        prompt_tokens = self._prompt_tokens
        return {"prompt_tokens": prompt_tokens, "completion_tokens": answer_tokens, "total_tokens": prompt_tokens + answer_tokens}

    def _body(self, object: str, choices: list[Body]) -> Body:
        return {**self._head, "object": object, "choices": choices}


def event(body: Mapping[str, Any]) -> str:
    """Format an event of a stream."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


END = "data: [DONE]\n\n"
