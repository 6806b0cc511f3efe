"""Text of the answers to a request, piece by piece."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import AsyncGenerator, Sequence

from ..engines.engine import Engine, Sampling, Tokenizer
from .channel import ChannelFailed

BROKEN = "\N{REPLACEMENT CHARACTER}"


class StreamedText:
    """Incremental decoder to final text; `stopped` after a stop string, not returned."""

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        self.stopped = False
        self._tokenizer = tokenizer
        self._stop = tuple(stop)
        self._tokens: list[int] = []
        self._shown, self._read = 0, 0
        self._held = ""

    def add(self, token: int) -> str:
        """Add a token, decoded in the context of a few earlier ones; return final text."""
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

    def _advance(self, text: str) -> str:
        earlier = self._tokenizer.decode(self._tokens[self._shown : self._read])
        self._shown, self._read = self._read, len(self._tokens)
        return text[len(earlier) :]

    def _final(self, new: str) -> str:
        text = self._held + new
        positions = [position for position in (text.find(stop) for stop in self._stop) if position >= 0]
        if positions:
            self.stopped, self._held = True, ""
            return text[: min(positions)]
        keep = max((size for stop in self._stop for size in range(1, len(stop)) if text.endswith(stop[:size])), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


STOP, LENGTH = "stop", "length"


class GenerationFailed(Exception):
    """Exception of an engine in the middle of an answer."""


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Piece of an answer, reason of its end or None, tokens so far."""

    text: str
    reason: str | None
    tokens: int


@dataclass(frozen=True, slots=True)
class WantedChoices:
    """Requested answer."""

    prompt: tuple[int, ...]
    sampling: Sampling
    stop: tuple[str, ...]


async def pieces(engine: Engine, choices: WantedChoices) -> AsyncGenerator[TextPiece, None]:
    """Yield the answer; the last piece has the reason of the end."""
    text, count, reason = StreamedText(engine.tokenizer, choices.stop), 0, ""
    async with aclosing(engine.generate(choices.prompt, choices.sampling)) as tokens:
        async for token in tokens:
            if token == engine.tokenizer.end:
                reason = STOP
                break
            count += 1
            if new_text := text.add(token):
                yield TextPiece(new_text, None, count)
            if text.stopped:
                reason = STOP
                break
    rest = text.finish()
    reason = reason or (STOP if text.stopped or count < choices.sampling.max_tokens else LENGTH)
    yield TextPiece(rest, reason, count)


async def merge(
    engine: Engine, choices: Sequence[WantedChoices], failure_event: asyncio.Event
) -> AsyncGenerator[tuple[int, TextPiece], None]:
    """Yield (index, piece) of several answers on arrival; the first failure ends all.

    `failure_event`: the replica has failed, which the engine itself need not notice.
    """
    queue: asyncio.Queue[tuple[int, TextPiece | None]] = asyncio.Queue()

    async def pump(index: int) -> None:
        async with aclosing(pieces(engine, choices[index])) as answer:
            async for piece in answer:
                await queue.put((index, piece))

    async def fail() -> None:
        await failure_event.wait()
        raise GenerationFailed("the replica has failed")

    remaining = len(choices)
    tasks = [asyncio.create_task(work) for work in (*(pump(index) for index in range(remaining)), fail())]
    for index, task in enumerate(tasks):
        task.add_done_callback(lambda done, index=index: queue.put_nowait((index, None)))  # type: ignore[misc]
    try:
        while remaining:
            index, piece = await queue.get()
            if piece is None:
                _raise_failure(tasks[index].exception())
                remaining -= 1
            else:
                yield index, piece
    finally:
        for task in tasks:
            task.cancel()


def _raise_failure(problem: BaseException | None) -> None:
    """Raise a failure of the replica unchanged, other exceptions as GenerationFailed."""
    if isinstance(problem, (ChannelFailed, GenerationFailed)):
        raise problem
    if problem is not None:
        raise GenerationFailed(f"{type(problem).__name__}: {problem}") from problem
