"""The workers' halves of an engine in this process; all that goes to them and back is made of bytes in between, as in the channel."""

from __future__ import annotations

import asyncio
from typing import Any, Sequence

from placewright.runtime.engines.engine import Engine, ReplicaShape, Sampling, engine_class
from placewright.runtime.replicas.wire import decode, encode


class LocalWorkers:
    """Answers at once."""

    def __init__(self, engine: str, settings: dict[str, Any], shape: ReplicaShape) -> None:
        cls = engine_class(engine).worker
        self.halves = [cls(settings, shape, rank) for rank in range(shape.world_size)]
        self.calls: list[tuple[str, tuple[int, ...]]] = []

    async def collective_rpc(
        self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None, limit: float | None = None
    ) -> list[Any]:
        asked = range(len(self.halves)) if ranks is None else ranks
        self.calls.append((method, tuple(asked)))
        given = [decode(encode(list(args))) for _ in asked]
        return [decode(encode(getattr(self.halves[rank], method)(*its))) for rank, its in zip(asked, given)]

    def notify(self, method: str, args: Sequence[Any] = (), ranks: Sequence[int] | None = None) -> None:
        for rank in range(len(self.halves)) if ranks is None else ranks:
            getattr(self.halves[rank], method)(*args)


async def opened(engine: str, settings: dict[str, Any], shape: ReplicaShape) -> tuple[Engine, LocalWorkers]:
    cls = engine_class(engine)
    cls.check(settings, shape)
    made, workers = cls(settings, shape), LocalWorkers(engine, settings, shape)
    await made.open(workers)
    return made, workers


def generated(engine: str, settings: dict[str, Any], shape: ReplicaShape, prompt: Sequence[int], sampling: Sampling) -> list[int]:
    async def run() -> list[int]:
        made, _ = await opened(engine, settings, shape)
        return [token async for token in made.generate(prompt, sampling)]

    return asyncio.run(run())
