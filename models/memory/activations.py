"""What the forward pass keeps for the backward pass, and what it needs for itself."""

from __future__ import annotations

from math import prod
from typing import Iterator

from .estimate import FULL, NONE
from .term import Term
from .work import Work

PAPER = "Reducing Activation Recomputation, arXiv 2205.05198, sections 4.1 to 5"
_HALF, _FULL = 2, 4
"""Bytes of a number: activations are kept in 16 bits, logits are in 32."""


def activations(work: Work) -> Iterator[Term]:
    """Of one micro batch, or, with pipeline stages, of as many as there are stages.

    A layer keeps, for each token: the inputs of two norms, of attention and of the feed-forward part, queries, keys and values, the input of
    the projection after attention, and of the gated part both factors, the activated one and the product. In 16 bits that is 16 x the width
    and 8 x the width of the feed-forward part, less where key-value heads are fewer. The paper counts the same parts for a feed-forward part
    of four times the width without gate, and 2 x the width for dropout, which is not used here: 34 x the width. tp ranks divide all of it, with
    sequence parallelism.
    """
    shape, tokens = work.shape, work.tokens
    if not (tokens and shape.hidden and shape.layers):
        return
    layer = _layer(work)
    if work.optimizer == NONE:
        yield _term(work, "activations", "{} tokens x {} bytes of one layer", tokens, layer)
    else:
        # The first stage has as many micro batches in flight as there are stages.
        layers, words = work.stage_layers * work.parallel.pp, "{} layers x {} tokens x {} bytes"
        if work.estimate.recompute == FULL:
            yield _term(work, "inputs of layers", words, layers, tokens, _HALF * shape.hidden)
            yield _term(work, "one layer again", "{} tokens x {} bytes", tokens, layer)
        else:
            yield _term(work, "activations", words, layers, tokens, layer)
    if shape.vocabulary:
        yield _term(work, "logits", "{} tokens x {} of the vocabulary x {} bytes", tokens, shape.vocabulary, _FULL)


def _term(work: Work, name: str, words: str, *figures: int) -> Term:
    tp = work.parallel.tp
    return Term(name, -(-prod(figures) // tp), words + (" / tp {}" if tp > 1 else ""), (*figures, tp), PAPER, stays=False)


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
