"""The text of an answer as its tokens come: whole characters only, and nothing that may be the beginning of a stop string."""

from __future__ import annotations

from typing import Sequence

from ...engines.engine import Tokenizer

BROKEN = "\N{REPLACEMENT CHARACTER}"


class Text:
    """Gives out each character once, as soon as it is sure; `stopped` when a stop string has come, which is not given out."""

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        self.stopped = False
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._tokens: list[int] = []
        self._shown, self._read = 0, 0
        self._held = ""

    def add(self, token: int) -> str:
        """What is sure now that this token has come.

        A few tokens before it are decoded with it, because what some tokenizers say of a token depends on those.
        """
        self._tokens.append(token)
        now = self._tokenizer.decode(self._tokens[self._shown :])
        if now.endswith(BROKEN):
            return ""
        return self._sure(self._advance(now))

    def finish(self) -> str:
        """What is left when no token comes any more."""
        if self.stopped:
            return ""
        last = self._sure(self._advance(self._tokenizer.decode(self._tokens[self._shown :])))
        held, self._held = self._held, ""
        return last if self.stopped else last + held

    def _advance(self, now: str) -> str:
        before = self._tokenizer.decode(self._tokens[self._shown : self._read])
        self._shown, self._read = self._read, len(self._tokens)
        return now[len(before) :]

    def _sure(self, new: str) -> str:
        text = self._held + new
        found = [place for place in (text.find(stop) for stop in self._stop) if place >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        keep = max((size for stop in self._stop for size in range(1, len(stop)) if text.endswith(stop[:size])), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]
