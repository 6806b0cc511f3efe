"""Weights, gradients and the optimizer: what is there whatever the batch is."""

from __future__ import annotations

from typing import Iterator

from ..estimate import BITS, DISTRIBUTED, FSDP, MEGATRON, NONE, OPTIMIZERS, ZERO1, ZERO2, ZERO3
from .term import Term
from .work import Parts, Work

ZERO_PAPER = "ZeRO, arXiv 1910.02054, section 3.1 and figure 1"
FSDP_PAPER = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 4.4"
PREFETCHING = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 3.3"
MEGATRON_PAGE = "Megatron-LM, docs/user-guide/features/dist_optimizer.md"
_DIVIDED = {
    NONE: (), ZERO1: ("optimizer",), ZERO2: ("optimizer", "gradients"), ZERO3: ("optimizer", "gradients", "weights"),
    FSDP: ("optimizer", "gradients", "weights"), MEGATRON: (), DISTRIBUTED: ("optimizer",),
}  # fmt: skip
"""Sharding -> what data parallel ranks divide among themselves."""


def states(work: Work) -> Iterator[Term]:
    """A term for each; those that do not train have weights alone.

    DeepSpeed's own estimators (deepspeed/runtime/zero/stage_1_and_2.py and stage3.py, estimate_zero2_model_states_mem_needs and its like) count
    more for each divided parameter, 4 bytes for `zero2` and 2 for `zero3`: gradients in 32 bits while the optimizer steps. By then activations
    are gone, which need more; they are not added here.
    """
    sharding, size = work.estimate.sharding, BITS[work.estimate.precision]
    source = FSDP_PAPER if sharding == FSDP else MEGATRON_PAGE if sharding in (MEGATRON, DISTRIBUTED) else ZERO_PAPER
    trains = work.optimizer != NONE
    count, trained = work.parameters, work.trained
    if trains and sharding == FSDP:  # the weights that are trained are kept in 32 bits; they are cast where they work
        frozen = Parts(count.dense - trained.dense, count.experts - trained.experts)
        if frozen.total:
            yield _term(work, "frozen weights", frozen, size, "weights", source)
        if trained.total:
            yield _term(work, "weights", trained, 32, "weights", source)
    else:
        yield _term(work, "weights", count, size, "weights", source)
    if not trains or not trained.total:
        return
    yield _term(work, "gradients", trained, _gradient_bits(sharding, work.estimate.precision), "gradients", source)
    state = 8 * OPTIMIZERS[work.optimizer]
    copy = 32 if size < 32 and sharding != FSDP else 0
    main = 32 if work.estimate.precision == "fp16" and sharding in (MEGATRON, DISTRIBUTED) else 0
    if bits := state + copy + main:
        yield _term(work, "optimizer", trained, bits, "optimizer", source)


def _gradient_bits(sharding: str, precision: str) -> int:
    """FSDP and Megatron add up gradients of bf16 weights in 32 bits; of fp16 weights Megatron keeps both."""
    return 32 if sharding == FSDP or (sharding in (MEGATRON, DISTRIBUTED) and precision != "fp16") else BITS[precision]


def _term(work: Work, name: str, count: Parts, bits: int, part: str, source: str) -> Term:
    divided = part in _DIVIDED[work.estimate.sharding]
    ranks, few = (work.ranks, work.expert_ranks) if divided else (1, 1)
    size = -(-(count.dense * few + count.experts * ranks) * bits // (8 * ranks * few))
    if count.experts and few != ranks:
        words = "({} parameters / {} ranks + {} of experts" + (" / {} ranks" if few > 1 else "") + ") x {} bytes"
        figures: tuple[object, ...] = (count.dense, ranks, count.experts, *((few,) if few > 1 else ()), _per_number(bits))
    else:
        words, figures = "{} parameters x {} bytes" + (" / {} ranks" if ranks > 1 else ""), (count.total, _per_number(bits), ranks)
    # Programs free the gradients after a step (PyTorch: `zero_grad` sets them to None); Megatron keeps its buffer.
    stays = part != "gradients" or work.estimate.sharding in (MEGATRON, DISTRIBUTED)
    return Term(name, size, words, figures, source, stays)


def _per_number(bits: int) -> int | float:
    return bits // 8 if bits % 8 == 0 else bits / 8


def gathered(work: Work) -> Iterator[Term]:
    """Weights that are whole for a moment, where ranks hold parts of them.

    While a layer works it is whole, and so is the next one, which is fetched ahead; embedding and head stay whole throughout.
    """
    shape = work.shape
    if work.whole or work.ranks == 1 or not shape.layers:
        return
    outer = -(-(shape.embedding + (shape.head if work.parallel.pp == 1 else 0)) // work.parallel.tp)
    divided = work.dense + (work.experts if work.expert_ranks > 1 else 0)  # the others are whole anyway
    layer = -(-max(0, divided - outer) // max(1, work.stage_layers))
    size = work.bytes_of(2 * layer + outer)
    words = "(2 layers x {} + {} of embedding and head) x {} bytes"
    yield Term("gathered weights", size, words, (layer, outer, _per_number(BITS[work.estimate.precision])), PREFETCHING, stays=False)
