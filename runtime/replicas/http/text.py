"""Text of an answer, token by token: whole characters only, without the start of a stop string."""

from __future__ import annotations

from typing import Sequence

from ...engines.engine import Tokenizer

BROKEN = "\N{REPLACEMENT CHARACTER}"


class Text:
    """Incremental decoder that returns text once it is final.

    `stopped`: True after a stop string, which is not returned.
    """

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        self.stopped = False
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._tokens: list[int] = []
        self._shown, self._read = 0, 0
        self._held = ""

    def add(self, token: int) -> str:
        """Add a token and return the new final text.

        A few earlier tokens are decoded with it, because some tokenizers decode a token by its
        context.
        """
        self._tokens.append(token)
        now = self._tokenizer.decode(self._tokens[self._shown :])
        if now.endswith(BROKEN):
            return ""
        return self._final(self._advance(now))

    def finish(self) -> str:
        """Return the remaining text after the last token."""
        if self.stopped:
            return ""
        last = self._final(self._advance(self._tokenizer.decode(self._tokens[self._shown :])))
        pending, self._held = self._held, ""
        return last if self.stopped else last + pending

    def _advance(self, decoded: str) -> str:
        earlier = self._tokenizer.decode(self._tokens[self._shown : self._read])
        self._shown, self._read = self._read, len(self._tokens)
        return decoded[len(earlier) :]

    def _final(self, new: str) -> str:
        text = self._held + new
        positions = [position for position in (text.find(stop) for stop in self._stop) if position >= 0]
        if positions:
            self.stopped, self._held = True, ""
            return text[: min(positions)]
        keep = max((size for stop in self._stop for size in range(1, len(stop)) if text.endswith(stop[:size])), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]
