"""Known models: heads, layers and experts, and their division by degrees."""

from __future__ import annotations

from .card import ModelCard
from .use import Length, ModelUse, Split, engine_splits, megatron_splits, sequence_split, ulysses_splits, vocabulary_split, with_sizes

__all__ = [
    "Length", "ModelCard", "ModelUse", "Split", "engine_splits", "megatron_splits", "sequence_split", "ulysses_splits", "vocabulary_split",
    "with_sizes",
]  # fmt: skip
