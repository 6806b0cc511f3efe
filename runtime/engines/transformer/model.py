"""Sizes and random weights of the small transformer."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Mapping

import numpy as np

from ...failure import failed
from ..bytes_tokenizer import BYTES

Array = Any
"""Array of float64, unless stated otherwise."""
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
        """Build the model of these settings; unknown settings are ignored.

        Raises LaunchFailed (PW741) for an invalid size.
        """
        sizes = {field.name: settings[field.name] for field in fields(cls) if field.name in settings}
        for name, value in sizes.items():
            least = 0 if name == "seed" else 1
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
                message = f"`{name}` of the transformer is {value!r}, and must be a whole number from {least} to {MOST}"
                raise failed("PW741", name, message, f"set `{name}` to such a number")
        return cls(**sizes)

    def embedding(self) -> Array:
        """Return the embedding [tokens, hidden]."""
        return self._draw(0, BYTES + 1, self.hidden) * np.sqrt(BYTES + 1)

    def head(self) -> Array:
        """Return the output head [hidden, tokens]."""
        return self._draw(1, self.hidden, BYTES + 1) * 3

    def attention(self, layer: int) -> tuple[Array, Array]:
        """Return the weights of queries, keys and values, and the output projection.

        Shapes: [hidden, 3, heads, head size] and [heads, head size, hidden].
        """
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
    """Rotate the half-pairs of [tokens, heads, size] by angles that grow with the position.

    Source: Su et al., RoFormer, section 3.4.
    """
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
