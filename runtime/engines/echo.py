"""Engine without weights: the answer is the prompt, token by token from all workers."""

from __future__ import annotations

import itertools
from typing import Any, AsyncGenerator, Mapping, Sequence

from .engine import Engine, EngineWorker, Message, ReplicaShape, Sampling


class EchoWorker(EngineWorker):
    """Worker that stores every `world_size`-th token of a prompt: no answer without all workers."""

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape, rank: int) -> None:
        super().__init__(settings, shape, rank)
        self._held: dict[int, list[int]] = {}

    def begin(self, sequence: int, prompt: list[int]) -> None:
        """Store this rank's part of a prompt."""
        self._held[sequence] = prompt[self.rank :: self.shape.world_size]

    def step(self, sequence: int, position: int) -> int | None:
        """Return the token at a position of the prompt; None if another rank stores it."""
        index, owner = divmod(position, self.shape.world_size)
        return self._held[sequence][index] if owner == self.rank else None

    def forget(self, sequence: int) -> None:
        """Remove an ended answer."""
        self._held.pop(sequence, None)

    def sleep(self) -> None:
        """Clear all prompts; see EngineWorker."""
        self._held.clear()


class EchoEngine(Engine):
    """Deterministic engine for tests and demos.

    The answer to a prompt is the prompt, the answer to a conversation is its last turn.
    """

    worker = EchoWorker
    _sequences = itertools.count()

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Accept any shape, over any nodes."""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate the prompt; see Engine. Of the sampling only the length counts."""
        sequence = next(self._sequences)
        try:  # the caller may stop before all workers have begun
            await self.workers.collective_rpc("begin", [sequence, list(prompt)])
            for position in range(min(len(prompt), sampling.max_tokens)):
                answers = await self.workers.collective_rpc("step", [sequence, position])
                yield next(token for token in answers if token is not None)
            if len(prompt) < sampling.max_tokens and self.tokenizer.end is not None:
                yield self.tokenizer.end
        finally:
            self.workers.tell("forget", [sequence])

    def chat(self, messages: Sequence[Message]) -> list[int]:
        """Return the last turn."""
        return self.tokenizer.encode(messages[-1]["content"])
