"""A small transformer in NumPy, split over tensor-parallel workers: an engine that is wrong if any call or array is.

Every worker computes partial sums from its own shard alone; the server adds them up in rank order,
twice a layer, as an all-reduce would. The weights are random and equal for equal seeds, whatever
the degree of parallelism, so that any number of workers gives the same answer. Source of the split:
Shoeybi et al., Megatron-LM, section 3.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Any, AsyncGenerator, Mapping, Sequence

import numpy as np
from placewright.runtime.engines.engine import BYTES, ENGINES, Engine, EngineWorker, ReplicaShape, Sampling
from placewright.runtime.failure import build_failure

Array = Any
"""Array of float64, unless stated otherwise."""
Rows = Any
"""Such an array as lists, as it travels."""
MOST = 4096


@dataclass(frozen=True, slots=True)
class Model:
    """Sizes of a transformer; `longest`: maximal tokens per sequence, `seed`: of the weights."""

    layers: int = 2
    hidden: int = 32
    heads: int = 4
    mlp: int = 64
    longest: int = 1024
    seed: int = 0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Model:
        """Build the model of these settings. Raises LaunchFailed (PW741) for an invalid size."""
        sizes = {field.name: settings[field.name] for field in fields(cls) if field.name in settings}
        for name, value in sizes.items():
            least = 0 if name == "seed" else 1
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
                message = f"`{name}` of the transformer is {value!r}, and must be a whole number from {least} to {MOST}"
                raise build_failure("PW741", name, message, f"set `{name}` to such a number")
        return cls(**sizes)

    def embedding(self) -> Array:
        """Return the embedding [tokens, hidden]."""
        return self._draw(0, BYTES + 1, self.hidden) * np.sqrt(BYTES + 1)

    def head(self) -> Array:
        """Return the output head [hidden, tokens]."""
        return self._draw(1, self.hidden, BYTES + 1) * 3

    def attention(self, layer: int) -> tuple[Array, Array]:
        """Return projections [hidden, 3, heads, size] and output [heads, size, hidden]."""
        size = self.hidden // self.heads
        projections = self._draw(4 * layer + 2, self.hidden, 3 * self.hidden).reshape(self.hidden, 3, self.heads, size)
        return projections, self._draw(4 * layer + 3, self.hidden, self.hidden).reshape(self.heads, size, self.hidden)

    def feed_forward(self, layer: int) -> tuple[Array, Array]:
        """Return the MLP weights [hidden, mlp] and [mlp, hidden]."""
        return self._draw(4 * layer + 4, self.hidden, self.mlp), self._draw(4 * layer + 5, self.mlp, self.hidden)

    def _draw(self, number: int, rows: int, columns: int) -> Array:
        return np.random.default_rng([self.seed, number]).standard_normal((rows, columns)) / np.sqrt(rows)


def normed(x: Array) -> Array:
    """Divide every row by its root mean square."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


def rotated(x: Array, position: int) -> Array:
    """Rotate half-pairs of [tokens, heads, size] by position. Source: Su et al., RoFormer."""
    tokens, _, size = x.shape
    angles = np.outer(np.arange(position, position + tokens), 10_000.0 ** (-2 * np.arange(size // 2) / size))[:, None, :]
    left, right = x[..., : size // 2], x[..., size // 2 :]
    return np.concatenate([left * np.cos(angles) - right * np.sin(angles), left * np.sin(angles) + right * np.cos(angles)], axis=-1)


def attended(queries: Array, keys: Array, values: Array) -> Array:
    """Compute causal attention [tokens, heads, size] of the last tokens."""
    scores = np.einsum("qhs,khs->hqk", queries, keys) / np.sqrt(queries.shape[-1])
    new, old = queries.shape[0], keys.shape[0]
    ahead = np.arange(old)[None, :] > np.arange(old - new, old)[:, None]
    scores = np.where(ahead, -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("hqk,khs->qhs", weights / weights.sum(axis=-1, keepdims=True), values)


def choose(logits: Any, sampling: Sampling, draws: Any) -> int:
    """Return the index of the next token. At temperature 0: the first of the likeliest."""
    if sampling.temperature == 0:
        return int(np.argmax(logits))
    weights = np.exp((logits - logits.max()) / sampling.temperature)
    order = np.argsort(-weights, kind="stable")
    total = np.cumsum(weights[order]) / weights.sum()
    candidates = int(np.searchsorted(total, sampling.top_p)) + 1  # the fewest whose probabilities reach top_p
    return int(order[np.searchsorted(total[:candidates], draws.random() * total[min(candidates, len(total)) - 1], side="right")])


def ranks_of(shape: ReplicaShape, data: int, stage: int) -> range:
    """Return the ranks of a pipeline stage of a data-parallel copy."""
    first = (data * shape.pipeline + stage) * shape.tensor
    return range(first, first + shape.tensor)


class TransformerWorker(EngineWorker):
    """Worker with the shards of a pipeline stage; answers are partial sums for the server."""

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape, rank: int) -> None:
        super().__init__(settings, shape, rank)
        model = Model.of(settings)
        part, parts = rank % shape.tensor, shape.tensor
        self._tokens = np.array_split(np.arange(BYTES + 1), parts)[part]
        self._embedding = model.embedding()[self._tokens]
        self._head = model.head()
        heads, columns = (slice(part * size // parts, (part + 1) * size // parts) for size in (model.heads, model.mlp))
        self._attention, self._feed_forward = {}, {}
        for layer in range(model.layers):
            if layer * shape.pipeline // model.layers == rank // shape.tensor % shape.pipeline:
                projections, output = model.attention(layer)
                up, down = model.feed_forward(layer)
                self._attention[layer] = projections[:, :, heads], output[heads]
                self._feed_forward[layer] = up[:, columns], down[columns]
        self._cache: dict[int, dict[int, tuple[Array, Array]]] = {}

    def embed(self, tokens: list[int]) -> Rows:
        """Return [tokens, hidden]: the rows of this rank's tokens, zero for others."""
        known = np.isin(tokens, self._tokens)
        rows = np.where(known, np.asarray(tokens) - self._tokens[0], 0)
        return (self._embedding[rows] * known[:, None]).tolist()

    def attend(self, sequence: int, layer: int, x: Rows, position: int) -> Rows:
        """Return [tokens, hidden]: the part of this rank's heads. The tokens enter the KV cache."""
        projections, output = self._attention[layer]
        queries, keys, values = np.einsum("td,dchs->cths", normed(np.asarray(x)), projections)
        queries, keys = rotated(queries, position), rotated(keys, position)
        cache = self._cache.setdefault(sequence, {})
        if layer in cache:
            keys, values = (np.concatenate([old, new]) for old, new in zip(cache[layer], (keys, values)))
        cache[layer] = keys, values
        return np.einsum("ths,hsd->td", attended(queries, keys, values), output).tolist()

    def transform(self, layer: int, x: Rows) -> Rows:
        """Return [tokens, hidden]: the part of this rank's columns."""
        up, down = self._feed_forward[layer]
        return (np.maximum(normed(np.asarray(x)) @ up, 0) @ down).tolist()

    def score(self, x: Rows, tokens: list[int]) -> Rows:
        """Return [tokens, share of `tokens`]: logits of this rank's share."""
        share = np.array_split(np.asarray(tokens), self.shape.tensor)[self.rank % self.shape.tensor]
        return (normed(np.asarray(x)) @ self._head[:, share]).tolist()

    def forget(self, sequence: int) -> None:
        """Free the cache of an ended answer."""
        self._cache.pop(sequence, None)

    def sleep(self) -> None:
        """Clear all caches; see EngineWorker."""
        self._cache.clear()


PRINTABLE = (*range(32, 127), BYTES)
"""Tokens that the model may produce: an answer of random weights is at least a line of ASCII."""


class TransformerEngine(Engine):
    """Decoder-only, pre-norm, rotary positions; a KV cache per sequence and worker.

    Settings: `layers`, `hidden`, `heads`, `mlp`, `seed`, `longest`; see Model for the defaults.
    """

    worker = TransformerWorker
    _sequences = itertools.count()

    def __init__(self, settings: Mapping[str, Any], shape: ReplicaShape) -> None:
        super().__init__(settings, shape)
        self.model = Model.of(settings)
        self.longest = self.model.longest

    @classmethod
    def check(cls, settings: Mapping[str, Any], shape: ReplicaShape, nodes: int = 1) -> None:
        """Raise LaunchFailed (PW741) unless heads, columns and layers divide evenly."""
        model = Model.of(settings)
        parts = (("heads", model.heads, shape.tensor), ("mlp", model.mlp, shape.tensor), ("layers", model.layers, shape.pipeline))
        for name, amount, degree in parts:
            if amount % degree:
                message = f"{amount} {name} of the transformer cannot be dealt to {degree} workers evenly"
                raise build_failure("PW741", name, message, f"set `{name}` to a multiple of {degree}, or use fewer workers", amount, degree)
        if model.hidden % model.heads or model.hidden // model.heads % 2:
            message = f"hidden size {model.hidden} does not give each of {model.heads} heads an even share"
            raise build_failure("PW741", "hidden", message, f"set `hidden` to a multiple of {2 * model.heads}", model.hidden, model.heads)

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
            size = self.shape.tensor * self.shape.pipeline
            self.workers.notify("forget", [sequence], range(copy * size, copy * size + size))

    async def logits(self, sequence: int, tokens: Sequence[int], position: int, copy: int = 0) -> Any:
        """Return float64 logits [tokens, printable tokens] from `position` on."""
        first, last = ranks_of(self.shape, copy, 0), ranks_of(self.shape, copy, self.shape.pipeline - 1)
        x = await self._sum("embed", [list(tokens)], first)
        for layer in range(self.model.layers):
            stage = ranks_of(self.shape, copy, layer * self.shape.pipeline // self.model.layers)
            x = x + await self._sum("attend", [sequence, layer, x.tolist(), position], stage)
            x = x + await self._sum("transform", [layer, x.tolist()], stage)
        return np.concatenate(await self.workers.collective_rpc("score", [x.tolist(), list(PRINTABLE)], last), axis=-1)

    async def _sum(self, method: str, args: Sequence[Any], ranks: Sequence[int]) -> Any:
        """Sum the workers' partial results in rank order, so that equal calls give equal bits."""
        return reduce(add, map(np.asarray, await self.workers.collective_rpc(method, args, ranks)))


ENGINES["transformer"] = (__name__, "TransformerEngine")
