"""What the forward pass keeps for the backward pass, and what it needs for itself."""

from __future__ import annotations

from math import prod
from typing import Iterator

from ..estimate import FULL, NONE
from ..findings.wording import plural
from .term import Term
from .work import Work

PAPER = "Reducing Activation Recomputation, arXiv 2205.05198, sections 4.1 to 5"
OUTPUT = "Reducing Activation Recomputation, arXiv 2205.05198, section 4.3"
_HALF, _FULL = 2, 4
"""Bytes of a number: activations are kept in 16 bits, logits are in 32."""


def activations(work: Work) -> Iterator[Term]:
    """Of one micro batch; with pipeline stages, those of the stage that needs most.

    That is the first stage, where as many micro batches are in flight as there are stages, or the last one, which has one of them and the
    logits (section 4.2.3 of the paper, of 1F1B). tp ranks divide all of it, with sequence parallelism (section 4.2.2).
    """
    shape, tokens, stages = work.shape, work.tokens, work.parallel.pp
    if not (tokens and shape.hidden and shape.layers):
        return
    logits = [_term(work, "logits", OUTPUT, "{} tokens x {} of the vocabulary x {} bytes", tokens, shape.vocabulary, _FULL)]
    outer = logits if shape.vocabulary else []
    if work.optimizer == NONE:
        yield _term(work, "activations", PAPER, "{} tokens x {} bytes of one layer", tokens, layer_bytes(work))
        yield from outer
    elif stages == 1:
        yield from (*_kept(work, 1), *outer)
    else:
        yield from max([*_kept(work, stages)], [*_kept(work, 1), *outer], key=lambda terms: sum(term.size for term in terms))


def _kept(work: Work, batches: int) -> Iterator[Term]:
    """What the layers of a stage keep of so many micro batches."""
    tokens = work.tokens
    layers = f"{{}} {plural('layer', work.stage_layers)}"
    words, figures = layers + " x {} tokens x {} bytes", [work.stage_layers, tokens]
    if batches > 1:
        words, figures = layers + " x {} micro batches x {} tokens x {} bytes", [work.stage_layers, batches, tokens]
    if work.estimate.recompute == FULL:
        yield _term(work, "inputs of layers", PAPER, words, *figures, _HALF * work.shape.hidden)
        yield _term(work, "one layer again", PAPER, "{} tokens x {} bytes", tokens, layer_bytes(work))
    else:
        yield _term(work, "activations", PAPER, words, *figures, layer_bytes(work))


def _term(work: Work, name: str, source: str, words: str, *figures: int) -> Term:
    tp = work.parallel.tp
    return Term(name, -(-prod(figures) // tp), words + (" / tp {}" if tp > 1 else ""), (*figures, tp), source, stays=False)


def layer_bytes(work: Work) -> int:
    """Bytes that one layer keeps of a token.

    The inputs of two norms, of attention and of the feed-forward part, queries, keys and values, the input of the projection after attention,
    and of the gated part both factors, the activated one and the product. In 16 bits that is 16 x the width and 8 x the width of the
    feed-forward part, less where key-value heads are fewer. The paper (section 4.1) counts the same parts for a feed-forward part of four
    times the width without gate, and 2 x the width for dropout, which is not used here: 34 x the width. Norms that are not one kernel, as in
    transformers' own models, keep 8 x the width more; a gate that is one kernel, as Megatron's, keeps 2 x its width less.
    """
    shape, estimate = work.shape, work.estimate
    wide, kept = shape.intermediate, 4 * shape.hidden + _attention(work)
    if shape.experts:  # of each token a copy goes to every expert that works on it, and comes back
        wide = shape.expert_intermediate * (shape.active_experts + shape.shared_experts)
        kept += 2 * shape.hidden * shape.active_experts
    kept += 4 * wide
    scores = 5 * shape.heads * estimate.sequence if estimate.attention_scores and estimate.recompute == NONE else 0
    return _HALF * kept + scores


def _attention(work: Work) -> int:
    """Numbers of queries, keys, values and what attention gives, of a token.

    Where they come from latents every head has its own keys and values, and the latents and their norms are kept too (DeepSeek-V2, arXiv
    2405.04434, section 2.1; appendix C has the formulas).
    """
    shape = work.shape
    if shape.latent and shape.value_size:
        return 2 * shape.heads * (shape.head_size + shape.value_size) + 2 * (shape.latent + shape.query_latent)
    kv = (shape.kv_heads or shape.heads) * shape.head_size
    return 2 * (shape.heads * shape.head_size or shape.hidden) + 2 * kv
