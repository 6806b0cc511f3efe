"""Validated requests in OpenAI's format.

Unsupported settings that change the answer are refused.
"""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal, Mapping

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

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
    content: str | list[TextPart]

    @property
    def words(self) -> str:
        """Whole text."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """Optional contents of a stream."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class GenerationRequest(BaseModel):
    """Common fields of requests. `temperature` 0 is greedy; else equal `seed`, equal answer."""

    model_config = ConfigDict(extra="forbid", strict=False)
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
