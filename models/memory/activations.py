"""What the forward pass keeps for the backward pass, and what it needs for itself."""

from __future__ import annotations

from typing import Iterator

from .estimate import FULL, NONE
from .term import Term
from .work import Work

PAPER = "Reducing Activation Recomputation, arXiv 2205.05198, sections 4.1 to 5"
_HALF, _FULL = 2, 4
"""Bytes of a number: activations are kept in 16 bits, logits are in 32."""


def activations(work: Work) -> Iterator[Term]:
    """Of one micro batch, or, with pipeline stages, of as many as there are stages.

    A layer keeps, for each token: the inputs of two norms, of attention and of the feed-forward part, of its projections down, queries, keys
    and values, and of the gated part both factors, their product and the activated one. tp ranks with sequence parallelism divide all of it.
    The paper's own count, for dropout and a feed-forward part of four times the width, is 34 x width; this is 12 x width where key-value heads
    are as many as heads, and 8 x the width of the feed-forward part.
    """
    shape, parallel, tokens = work.shape, work.parallel, work.tokens
    if not (tokens and shape.hidden and shape.layers):
        return
    layer = _layer(work)
    if work.optimizer == NONE:
        yield Term("activations", -(-layer * tokens // parallel.tp), "{} tokens x {} bytes of one layer / tp {}", (tokens, layer, parallel.tp), PAPER, False)  # fmt: skip
    else:
        # The first stage has as many micro batches in flight as there are stages.
        layers = work.stage_layers * parallel.pp
        words = "{} layers x {} tokens x {} bytes / tp {}"
        if work.estimate.recompute == FULL:
            inputs = _HALF * shape.hidden
            yield Term(
                "inputs of layers", -(-layers * tokens * inputs // parallel.tp), words, (layers, tokens, inputs, parallel.tp), PAPER, False
            )
            yield Term(
                "one layer again",
                -(-layer * tokens // parallel.tp),
                "{} tokens x {} bytes / tp {}",
                (tokens, layer, parallel.tp),
                PAPER,
                False,
            )
        else:
            yield Term("activations", -(-layers * tokens * layer // parallel.tp), words, (layers, tokens, layer, parallel.tp), PAPER, False)
    if shape.vocabulary:
        size = -(-tokens * shape.vocabulary * _FULL // parallel.tp)
        yield Term(
            "logits",
            size,
            "{} tokens x {} of the vocabulary x {} bytes / tp {}",
            (tokens, shape.vocabulary, _FULL, parallel.tp),
            PAPER,
            False,
        )


def _layer(work: Work) -> int:
    """Bytes that one layer keeps of a token."""
    shape, estimate = work.shape, work.estimate
    kv = (shape.kv_heads or shape.heads) * shape.head_size
    queries = shape.heads * shape.head_size or shape.hidden
    wide, kept = shape.intermediate, 4 * shape.hidden + 2 * queries + 2 * kv
    if shape.experts:  # of each token a copy goes to every expert that works on it, and comes back
        wide = shape.expert_intermediate * (shape.active_experts + shape.shared_experts)
        kept += 2 * shape.hidden * shape.active_experts
    kept += 4 * wide
    scores = 5 * shape.heads * estimate.sequence if estimate.attention_scores and estimate.recompute == NONE else 0
    return _HALF * kept + scores
