"""Small real transformer in NumPy, with heads and MLP columns split over tensor-parallel workers.

Every worker computes partial sums from its own shard alone; the server adds them up in rank order,
twice a layer, as an all-reduce would. The weights are random and equal for equal seeds, whatever
the degree of parallelism, so that any number of workers gives the same answer. Source of the split:
Shoeybi et al., Megatron-LM, section 3.
"""

from __future__ import annotations

import itertools
from typing import Any, AsyncGenerator, Mapping, Sequence

import numpy as np

from ...failure import failed
from ..bytes_tokenizer import BYTES
from ..engine import Engine, Sampling
from ..shape import Shape
from .model import Model
from .sampling import choose
from .worker import TransformerWorker

PRINTABLE = (*range(32, 127), BYTES)
"""Tokens that the model may produce: an answer of random weights is at least a line of ASCII."""


class TransformerEngine(Engine):
    """Decoder-only, pre-norm, rotary positions; a KV cache per sequence and worker.

    Settings: `layers`, `hidden`, `heads`, `mlp`, `seed`, `longest`; see Model for the defaults.
    """

    worker = TransformerWorker
    _sequences = itertools.count()

    def __init__(self, settings: Mapping[str, Any], shape: Shape) -> None:
        super().__init__(settings, shape)
        self.model = Model.of(settings)
        self.longest = self.model.longest

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: Shape, nodes: int = 1) -> None:
        """Check that heads, columns and layers divide evenly.

        Raises LaunchFailed (PW741) otherwise.
        """
        model = Model.of(settings)
        parts = (("heads", model.heads, shape.tensor), ("mlp", model.mlp, shape.tensor), ("layers", model.layers, shape.pipeline))
        for name, amount, degree in parts:
            if amount % degree:
                message = f"{amount} {name} of the transformer cannot be dealt to {degree} workers evenly"
                raise failed("PW741", name, message, f"set `{name}` to a multiple of {degree}, or use fewer workers", amount, degree)
        if model.hidden % model.heads or model.hidden // model.heads % 2:
            message = f"hidden size {model.hidden} does not give each of {model.heads} heads an even share"
            raise failed("PW741", "hidden", message, f"set `hidden` to a multiple of {2 * model.heads}", model.hidden, model.heads)

    async def generate(self, prompt: Sequence[int], sampling: Sampling) -> AsyncGenerator[int, None]:
        """Generate tokens; see Engine. The data-parallel copies take turns."""
        sequence = next(self._sequences)
        copy = sequence % self.shape.data
        draws = np.random.default_rng(sampling.seed)
        tokens, position = list(prompt) or [BYTES], 0
        try:
            for _ in range(sampling.max_tokens):
                row = (await self.logits(sequence, tokens, position, copy))[-1]
                token = PRINTABLE[choose(row, sampling, draws)]
                yield token
                if token == self.tokenizer.end:
                    return
                tokens, position = [token], position + len(tokens)
        finally:
            self.workers.tell("forget", [sequence], self._copy(copy))

    async def logits(self, sequence: int, tokens: Sequence[int], position: int, copy: int = 0) -> Any:
        """Return float64 logits [tokens, printable tokens] from `position` on."""
        first, last = self.shape.ranks(copy, 0), self.shape.ranks(copy, self.shape.pipeline - 1)
        x = await self._sum("embed", [list(tokens)], first)
        for layer in range(self.model.layers):
            stage = self.shape.ranks(copy, layer * self.shape.pipeline // self.model.layers)
            x = x + await self._sum("attend", [sequence, layer, x, position], stage)
            x = x + await self._sum("transform", [layer, x], stage)
        return np.concatenate(await self.workers.collective_rpc("score", [x, list(PRINTABLE)], last), axis=-1)

    async def _sum(self, method: str, args: Sequence[Any], ranks: Sequence[int]) -> Any:
        """Sum the workers' partial results in rank order, so that equal calls give equal bits."""
        parts = await self.workers.collective_rpc(method, args, ranks)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def _copy(self, copy: int) -> range:
        size = self.shape.tensor * self.shape.pipeline
        return range(copy * size, copy * size + size)
