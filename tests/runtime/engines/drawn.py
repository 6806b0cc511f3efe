"""An engine of the tests that draws tokens at random: greedy always the same, else by the seed; `longest` is a setting."""

from __future__ import annotations

from random import Random
from typing import Any, AsyncGenerator, Mapping, Sequence

from placewright.runtime.engines.engine import ENGINES, Engine, ReplicaShape, Sampling

ENGINES["drawn"] = (__name__, "DrawnEngine")


class DrawnEngine(Engine):
    """Letters; nothing else is known of the prompt than its length."""

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape) -> None:
        super().__init__(settings, shape)
        self.longest = settings.get("longest")

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Accept anything."""

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        draws = Random(sampling.seed if sampling.temperature else len(prompt))
        for _ in range(sampling.max_tokens):
            yield draws.randrange(97, 123)
