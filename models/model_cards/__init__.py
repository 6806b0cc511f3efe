"""What is known of the models: how many heads, layers and experts there are to be divided."""

from __future__ import annotations

from .card import ModelCard
from .use import ModelUse, Split, engine_splits, megatron_splits, ulysses_splits, vocabulary_split, with_sizes

__all__ = ["ModelCard", "ModelUse", "Split", "engine_splits", "megatron_splits", "ulysses_splits", "vocabulary_split", "with_sizes"]
