"""Worker half of the small transformer: heads, MLP columns, vocabulary rows, KV cache."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ..bytes_tokenizer import BYTES
from ..engine import EngineWorker
from ..shape import Shape
from .model import Array, Model, attended, normed, rotated


class TransformerWorker(EngineWorker):
    """Worker with the shards of a pipeline stage; answers are partial sums for the server."""

    def __init__(self, settings: Mapping[str, Any], shape: Shape, rank: int) -> None:
        super().__init__(settings, shape, rank)
        model = Model.of(settings)
        part, parts = shape.tensor_rank(rank), shape.tensor
        self._tokens = np.array_split(np.arange(BYTES + 1), parts)[part]
        self._embedding = model.embedding()[self._tokens]
        self._head = model.head()
        heads, columns = _share(model.heads, part, parts), _share(model.mlp, part, parts)
        self._attention, self._feed_forward = {}, {}
        for layer in range(model.layers):
            if layer * shape.pipeline // model.layers == shape.stage(rank):
                projections, output = model.attention(layer)
                up, down = model.feed_forward(layer)
                self._attention[layer] = projections[:, :, heads], output[heads]
                self._feed_forward[layer] = up[:, columns], down[columns]
        self._cache: dict[int, dict[int, tuple[Array, Array]]] = {}

    def embed(self, tokens: list[int]) -> Array:
        """Return [tokens, hidden]: the rows of this rank's tokens, zero for others."""
        known = np.isin(tokens, self._tokens)
        rows = np.where(known, np.asarray(tokens) - self._tokens[0], 0)
        return self._embedding[rows] * known[:, None]

    def attend(self, sequence: int, layer: int, x: Array, position: int) -> Array:
        """Return [tokens, hidden]: the part of this rank's heads. The tokens enter the KV cache."""
        projections, output = self._attention[layer]
        queries, keys, values = np.einsum("td,dchs->cths", normed(x), projections)
        queries, keys = rotated(queries, position), rotated(keys, position)
        cache = self._cache.setdefault(sequence, {})
        if layer in cache:
            keys, values = (np.concatenate([old, new]) for old, new in zip(cache[layer], (keys, values)))
        cache[layer] = keys, values
        return np.einsum("ths,hsd->td", attended(queries, keys, values), output)

    def transform(self, layer: int, x: Array) -> Array:
        """Return [tokens, hidden]: the part of this rank's columns."""
        up, down = self._feed_forward[layer]
        return np.maximum(normed(x) @ up, 0) @ down

    def score(self, x: Array, tokens: list[int]) -> Array:
        """Return [tokens, share of `tokens`]: logits of this rank's share."""
        share = np.array_split(np.asarray(tokens), self.shape.tensor)[self.shape.tensor_rank(self.rank)]
        return normed(x) @ self._head[:, share]

    def forget(self, sequence: int) -> None:
        """Free the cache of an ended answer."""
        self._cache.pop(sequence, None)

    def sleep(self) -> None:
        """Clear all caches; see EngineWorker."""
        self._cache.clear()


def _share(amount: int, part: int, parts: int) -> slice:
    size = amount // parts
    return slice(part * size, part * size + size)
