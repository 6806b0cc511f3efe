"""The engine without weights: it answers with the prompt itself, token by token, each from the worker that holds it."""

from __future__ import annotations

import itertools
from typing import Any, AsyncGenerator, Mapping, Sequence

from .engine import Engine, EngineWorker, Message, Sampling
from .shape import Shape


class EchoWorker(EngineWorker):
    """Holds every `world_size`-th token of each prompt, so that no answer comes about without every worker."""

    def __init__(self, settings: Mapping[str, Any], shape: Shape, rank: int) -> None:
        super().__init__(settings, shape, rank)
        self._held: dict[int, list[int]] = {}

    def begin(self, sequence: int, prompt: list[int]) -> None:
        """A prompt arrives; the part of this rank is kept."""
        self._held[sequence] = prompt[self.rank :: self.shape.world_size]

    def step(self, sequence: int, position: int) -> int | None:
        """The token at a position of the prompt; None if another rank has it."""
        index, owner = divmod(position, self.shape.world_size)
        return self._held[sequence][index] if owner == self.rank else None

    def forget(self, sequence: int) -> None:
        """The answer has ended."""
        self._held.pop(sequence, None)

    def sleep(self) -> None:
        """See EngineWorker."""
        self._held.clear()


class EchoEngine(Engine):
    """Deterministic: the answer to a prompt is the prompt, the answer to a conversation is its last turn. For tests and demos."""

    worker = EchoWorker
    _sequences = itertools.count()

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: Shape, nodes: int = 1) -> None:
        """Serves any shape, over any nodes."""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """See Engine; the sampling makes no difference but in length."""
        sequence = next(self._sequences)
        try:  # whoever stops listening may do so before all workers have begun
            await self.workers.collective_rpc("begin", [sequence, list(prompt)])
            for position in range(min(len(prompt), sampling.max_tokens)):
                answers = await self.workers.collective_rpc("step", [sequence, position])
                yield next(token for token in answers if token is not None)
            if len(prompt) < sampling.max_tokens and self.tokenizer.end is not None:
                yield self.tokenizer.end
        finally:
            self.workers.tell("forget", [sequence])

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """The last turn."""
        return self.tokenizer.encode(messages[-1]["content"])
