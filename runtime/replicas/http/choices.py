"""Answers to a request: several concurrent streams of text pieces."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import AsyncGenerator, Sequence

from ...engines.engine import Engine, Sampling
from ..channel.channel import ChannelFailed
from .text import Text

STOP, LENGTH = "stop", "length"


class AnswerFailed(Exception):
    """Exception of an engine in the middle of an answer."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece of an answer; `reason`: why it ended, or None.

    `tokens`: count so far, without the end token.
    """

    text: str
    reason: str | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Requested answer."""

    prompt: tuple[int, ...]
    sampling: Sampling
    stop: tuple[str, ...]


async def pieces(engine: Engine, wanted: Wanted) -> AsyncGenerator[Piece, None]:
    """Yield the answer; the last piece has the reason of the end.

    Closing the generator ends the generation.
    """
    text, count, reason = Text(engine.tokenizer, wanted.stop), 0, ""
    async with aclosing(engine.generate(wanted.prompt, wanted.sampling)) as tokens:
        async for token in tokens:
            if token == engine.tokenizer.end:
                reason = STOP
                break
            count += 1
            if shown := text.add(token):
                yield Piece(shown, None, count)
            if text.stopped:
                reason = STOP
                break
    rest = text.finish()
    reason = reason or (STOP if text.stopped or count < wanted.sampling.max_tokens else LENGTH)
    yield Piece(rest, reason, count)


async def together(engine: Engine, wanted: Sequence[Wanted]) -> AsyncGenerator[tuple[int, Piece], None]:
    """Yield (index, piece) of several answers in order of arrival.

    The first failure ends all; so does closing the generator.
    """
    queue: asyncio.Queue[tuple[int, Piece | None]] = asyncio.Queue()

    async def pump(index: int) -> None:
        async with aclosing(pieces(engine, wanted[index])) as answer:
            async for piece in answer:
                await queue.put((index, piece))

    tasks = [asyncio.create_task(pump(index)) for index in range(len(wanted))]
    for index, task in enumerate(tasks):
        task.add_done_callback(lambda done, index=index: queue.put_nowait((index, None)))  # type: ignore[misc]
    unfinished = len(tasks)
    try:
        while unfinished:
            index, piece = await queue.get()
            if piece is None:
                _raise_failure(tasks[index].exception())
                unfinished -= 1
            else:
                yield index, piece
    finally:
        for task in tasks:
            task.cancel()


def _raise_failure(problem: BaseException | None) -> None:
    """Raise an answer's failure: ChannelFailed unchanged, an engine's exceptions as
    AnswerFailed.
    """
    if isinstance(problem, ChannelFailed):
        raise problem
    if problem is not None:
        raise AnswerFailed(f"{type(problem).__name__}: {problem}") from problem
