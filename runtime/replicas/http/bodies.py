"""Answers in OpenAI's words: whole ones, and the chunks of a stream."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any, Mapping, Sequence

from .choices import Piece

Body = dict[str, Any]


class Kind:
    """How one of the two endpoints says an answer: names of objects, and where the text stands in a choice."""

    def __init__(self, prefix: str, whole: str, part: str) -> None:
        self.prefix = prefix
        self.whole = whole
        self.part = part

    def choice(self, index: int, text: str, reason: str | None) -> Body:
        """A whole answer."""
        return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}

    def delta(self, index: int, text: str, reason: str | None, first: bool) -> Body:
        """A piece of an answer; `first`: nothing of it was sent before."""
        return self.choice(index, text, reason)


class Chat(Kind):
    """The conversation's way: text in a message, or in a delta."""

    def choice(self, index: int, text: str, reason: str | None) -> Body:
        """See Kind."""
        message = {"role": "assistant", "content": text, "refusal": None}
        return {"index": index, "message": message, "logprobs": None, "finish_reason": reason}

    def delta(self, index: int, text: str, reason: str | None, first: bool) -> Body:
        """See Kind."""
        delta = ({"role": "assistant"} if first else {}) | ({"content": text} if text or first else {})
        return {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}


CHAT = Chat("chatcmpl", "chat.completion", "chat.completion.chunk")
COMPLETION = Kind("cmpl", "text_completion", "text_completion")


class Answer:
    """One answer to a request: its identifier, what was said so far, and how many tokens that took."""

    def __init__(self, kind: Kind, model: str, prompts: Sequence[int]) -> None:
        self._kind = kind
        self._head = {"id": f"{kind.prefix}-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}
        self._prompt_tokens = sum(prompts)
        self._texts: dict[int, str] = {}
        self._reasons: dict[int, str | None] = {}
        self._tokens: dict[int, int] = {}

    def add(self, index: int, piece: Piece) -> Body:
        """Takes note of a piece; the chunk that tells it."""
        first = index not in self._texts
        self._texts[index] = self._texts.get(index, "") + piece.text
        self._reasons[index], self._tokens[index] = piece.reason, piece.tokens
        return self._body(self._kind.part, [self._kind.delta(index, piece.text, piece.reason, first)])

    def whole(self) -> Body:
        """All that was said."""
        choices = [self._kind.choice(index, text, self._reasons[index]) for index, text in sorted(self._texts.items())]
        return self._body(self._kind.whole, choices) | {"usage": self.usage()}

    def last(self) -> Body:
        """The chunk that tells the usage and nothing else."""
        return self._body(self._kind.part, []) | {"usage": self.usage()}

    def usage(self) -> Mapping[str, int]:
        """Tokens of the prompts, of the answers, and together."""
        said = sum(self._tokens.values())
        return {"prompt_tokens": self._prompt_tokens, "completion_tokens": said, "total_tokens": self._prompt_tokens + said}

    def _body(self, object: str, choices: list[Body]) -> Body:
        return {**self._head, "object": object, "choices": choices}


def event(body: Mapping[str, Any]) -> str:
    """An event of a stream."""
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


END = "data: [DONE]\n\n"
