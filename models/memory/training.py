"""Activations, logits and the optimizer's step, by the moments of an iteration.

Measurements on one H200: docs/memory.md has the rows.
"""

from __future__ import annotations

from math import prod
from typing import Iterator, Sequence

from ..estimate import ADAM, ADAM_16, BITS, CHUNKED, DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, WHOLE, ZERO1, ZERO2, ZERO3
from ..findings.wording import plural
from .terms import EXACT, MemoryTerm, Moment
from .work import Work

PREFETCHING = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 3.3"
ACTIVATIONS_PAPER = "Reducing Activation Recomputation, arXiv 2205.05198, sections 4.1 to 5"
OUTPUT = "Reducing Activation Recomputation, arXiv 2205.05198, section 4.3"
LOSS = "transformers, loss/loss_utils.py (ForCausalLMLoss); measured on one H200"
PARALLEL_LOSS = "Megatron-LM, megatron/core/tensor_parallel/cross_entropy.py"
CHUNKED_LOSS = "Liger-Kernel, ops/fused_linear_cross_entropy.py; verl, utils/experimental/torch_functional.py"
FOREACH = "PyTorch, torch/optim/adamw.py (_multi_tensor_adamw: square roots of all second moments); measured on one H200"
UNFUSED = "DeepSpeed, runtime/zero/stage_1_and_2.py (gradients in 32 bits)"
_HALF = 2
"""Bytes of an activation."""
_CHUNK = 1024
"""Tokens of a chunk of a fused loss: 512 in verl, a power of two by model in Liger-Kernel."""
_BY_MEGATRON = (MEGATRON, DISTRIBUTED)
_AUTOCAST = (1.0, 2.0)
"""Residual stream of 16 bits; 32 where autocast casts weights, as in the measurements."""
_KERNELS = (0.85, 1.25)
"""Norms and gates as one kernel each; or in 32 bits, with key-value heads repeated."""


def list_gathered(work: Work) -> Iterator[MemoryTerm]:
    """Yield weights whole for a moment: two layers, and embedding and head throughout.

    Low: one layer. High: a third one, and the gradients of one that are not yet divided.
    """
    shape = work.shape
    if work.whole or work.ranks == 1 or not shape.layers:
        return
    outer = -(-(shape.embedding + (shape.head if work.parallel.pp == 1 else 0)) // work.parallel.tp)
    sharded_parameters = work.dense + (work.experts if work.expert_ranks > 1 else 0)  # the rest is whole anyway
    layer = -(-max(0, sharded_parameters - outer) // max(1, work.stage_layers))
    bits, likely = BITS[work.estimate.precision], 2 * layer + outer
    words, figures = "(2 layers x {} + {} of embedding and head) x {} bytes", (layer, outer, bits // 8 if bits % 8 == 0 else bits / 8)
    spread = (layer / likely, (5 * layer + outer) / likely) if likely else EXACT
    yield MemoryTerm("gathered weights", work.bytes_of(likely), words, figures, PREFETCHING, stays=False, spread=spread)


def moments(work: Work, states: Sequence[MemoryTerm]) -> Iterator[Moment]:
    """Yield the terms of each moment that may need most.

    During the loss there are logits, and gradients of earlier micro batches; when layers are
    computed again, and in the optimizer's step, all gradients. Of pipeline stages the first has as
    many micro batches in flight as stages, the last one micro batch and the logits (section 4.2.3
    of the paper, of 1F1B). tp ranks divide activations, with sequence parallelism (section 4.2.2).
    """
    shape, tokens, stages = work.shape, work.tokens, work.parallel.pp
    has_activations, whole = bool(tokens and shape.hidden and shape.layers), tuple(list_gathered(work))
    if work.optimizer == NONE:
        layer = _kept_term(work, "activations", ACTIVATIONS_PAPER, "{} tokens x {} bytes of one layer", tokens, layer_bytes(work))
        yield (*states, *whole, *([layer.of(_KERNELS), *_logits(work)] if has_activations else ()))
        return
    yield (*states, *_step(work))
    if not has_activations:
        yield (*states, *whole)
        return
    yield (*_during_loss(work, states), *whole, *_list_kept(work, 1), *_logits(work))
    if stages > 1:
        yield (*states, *whole, *_list_kept(work, stages))
    if work.estimate.recompute == FULL:
        recomputed_layer = _kept_term(work, "one layer again", ACTIVATIONS_PAPER, "{} tokens x {} bytes", tokens, layer_bytes(work))
        yield (*states, *whole, *_list_kept(work, stages), recomputed_layer.of(_KERNELS))


def _during_loss(work: Work, states: Sequence[MemoryTerm]) -> Iterator[MemoryTerm]:
    """Yield the states; freed gradients only if earlier micro batches leave some."""
    for term in states:
        if term.name != "gradients" or term.stays or work.estimate.micro_batches > 1:
            yield term
        elif not work.estimate.micro_batches:
            yield term.of((0.0, 1.0))


def _step(work: Work) -> Iterator[MemoryTerm]:
    """Yield the temporary copies of the optimizer's step; a fused optimizer has none."""
    sharding, trainable = work.estimate.sharding, work.trained
    if sharding in _BY_MEGATRON or work.optimizer not in (ADAM, ADAM_16):
        return
    few, ranks = (work.expert_ranks, work.ranks) if sharding != NONE else (1, 1)
    count = -(-trainable.dense // ranks) + -(-trainable.experts // few)
    size, source = BITS[work.estimate.precision] // 8 if work.optimizer == ADAM_16 else 4, FOREACH
    if sharding in (ZERO1, ZERO2, ZERO3):
        source = UNFUSED
    words = "{} parameters of this rank x {} bytes"
    yield MemoryTerm("copies of the step", count * size, words, (count, size), source, stays=False, spread=(0.0, 1.0))


def _logits(work: Work) -> Iterator[MemoryTerm]:
    """Yield the logits with what a loss derives from them, in bytes a logit.

    Of a model of transformers that trains 12: what log-softmax gives, its gradient, and that of the
    loss, in 32 bits each; 2 more if the output is held, and 2 for an entropy. Without a backward
    pass 10: the output, its copy in 32 bits and the log-softmax. A loss that works in place on 16
    bits needs 2 to 4. Megatron's ranks hold parts of the vocabulary: the output, the copy in
    32 bits, of which the loss makes its gradient, and 2 for that of the output.
    """
    tokens, estimate, trains = work.tokens, work.estimate, work.optimizer != NONE
    if not work.shape.vocabulary:
        return
    size, spread, source = (12, (10 / 12, 16 / 12), LOSS) if trains else (10, (8 / 10, 14 / 10), LOSS)
    if estimate.sharding in _BY_MEGATRON:
        size, spread, source = 8, (0.5, 14 / 8), PARALLEL_LOSS
    elif estimate.logits != WHOLE:
        spread = (2 / size, spread[1])
    if estimate.logits == CHUNKED:
        tokens, spread, source = min(tokens, _CHUNK), (0.25, 2.0), CHUNKED_LOSS
    words = "{} tokens x {} of the vocabulary x {} bytes"
    yield _kept_term(work, "logits", source, words, tokens, work.shape.vocabulary, size).of(spread)


def _list_kept(work: Work, batches: int) -> Iterator[MemoryTerm]:
    """Yield the activations that the layers of a stage store for some micro batches."""
    tokens = work.tokens
    layers = f"{{}} {plural('layer', work.stage_layers)}"
    words, figures = layers + " x {} tokens x {} bytes", [work.stage_layers, tokens]
    if batches > 1:
        words, figures = layers + " x {} micro batches x {} tokens x {} bytes", [work.stage_layers, batches, tokens]
    if work.estimate.recompute == FULL:
        yield _kept_term(work, "inputs of layers", ACTIVATIONS_PAPER, words, *figures, _HALF * work.shape.hidden).of(_AUTOCAST)
    else:
        yield _kept_term(work, "activations", ACTIVATIONS_PAPER, words, *figures, layer_bytes(work)).of(_KERNELS)


def _kept_term(work: Work, name: str, source: str, words: str, *figures: int) -> MemoryTerm:
    tp = work.parallel.tp
    return MemoryTerm(name, -(-prod(figures) // tp), words + (" / tp {}" if tp > 1 else ""), (*figures, tp), source, stays=False)


def layer_bytes(work: Work) -> int:
    """Return the activation bytes of a layer per token.

    Stored are the inputs of two norms, of attention and of the feed-forward part, queries, keys and
    values, the input of the projection after attention, and of the gated part both factors, the
    activated factor and the product. In 16 bits that is 16 x the width and 8 x the width of the
    feed-forward part, less with fewer key-value heads. The paper (section 4.1) counts the same
    parts for a feed-forward part of four times the width without gate, and 2 x the width for
    dropout, which is not used here: 34 x the width. Norms that are not one kernel, as in the models
    of transformers that FSDP and ZeRO divide, keep 8 x the width more; a gate that is one kernel,
    as Megatron's, keeps 2 x its width less.
    """
    shape, estimate = work.shape, work.estimate
    wide, size = shape.intermediate, 4 * shape.hidden + _attention(work)
    if estimate.sharding in (FSDP, ZERO1, ZERO2, ZERO3):
        size += 4 * shape.hidden
    if shape.experts:  # each token is copied to its active experts and back
        wide = shape.expert_intermediate * (shape.active_experts + shape.shared_experts)
        size += 2 * shape.hidden * shape.active_experts
    size += 4 * wide
    scores = 5 * shape.heads * estimate.sequence if estimate.attention_scores and estimate.recompute == NONE else 0
    return _HALF * size + scores


def _attention(work: Work) -> int:
    """Return the numbers of queries, keys, values and attention output per token.

    With latents every head has its own keys and values, and the latents and their norms are stored
    too (DeepSeek-V2, arXiv 2405.04434, section 2.1; appendix C has the formulas).
    """
    shape = work.shape
    if shape.latent and shape.value_size:
        return 2 * shape.heads * (shape.head_size + shape.value_size) + 2 * (shape.latent + shape.query_latent)
    kv = (shape.kv_heads or shape.heads) * shape.head_size
    return 2 * (shape.heads * shape.head_size or shape.hidden) + 2 * kv
