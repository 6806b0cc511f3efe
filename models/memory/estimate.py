"""Estimated memory of a component per accelerator, term by term."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Iterator

from ..component import Component
from ..estimate import ADAM_16, BITS, DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, OPTIMIZERS, ZERO1, ZERO2, ZERO3, MemoryInput
from ..job import Job
from ..model_cards.card import NUMBERS, ModelCard
from ..model_cards.use import DEGREES, ESTIMATE, ModelUse, Split, engine_splits, megatron_splits
from ..parallel import Parallel
from ..roles import ROLLOUT, role_of
from .overhead import allocator, resident, serving
from .terms import EstimatedTotal, MemoryTerm, find_worst_moment, mebibytes
from .training import moments
from .work import ModelShape, WeightShare, Work, as_run, optimizer_of, shape_of

ZERO_PAPER = "ZeRO, arXiv 1910.02054, section 3.1 and figure 1"
FSDP_PAPER = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 4.4"
MEGATRON_PAGE = "Megatron-LM, docs/user-guide/features/dist_optimizer.md"
_DIVIDED = {
    NONE: (), ZERO1: ("optimizer",), ZERO2: ("optimizer", "gradients"), ZERO3: ("optimizer", "gradients", "weights"),
    FSDP: ("optimizer", "gradients", "weights"), MEGATRON: (), DISTRIBUTED: ("optimizer",),
}  # fmt: skip
"""Sharding -> states that data parallel ranks divide."""


def states(work: Work) -> Iterator[MemoryTerm]:
    """Yield a term per training state; weights alone without training."""
    sharding, size = work.estimate.sharding, BITS[work.estimate.precision]
    source = FSDP_PAPER if sharding == FSDP else MEGATRON_PAGE if sharding in (MEGATRON, DISTRIBUTED) else ZERO_PAPER
    trains, fields = work.optimizer != NONE, work.estimate.written
    is_divided = {"sharding", "optimizer"} <= {*fields} or not trains
    count, trainable, in_32 = work.parameters, work.trained, _stores_32_bits(work)
    if trains and in_32:  # trained weights are stored in 32 bits and cast for use
        frozen = WeightShare(count.dense - trainable.dense, count.experts - trainable.experts)
        if frozen.total:
            yield _term(work, "frozen weights", frozen, size, "weights", source, is_divided and "precision" in fields)
        if trainable.total:
            yield _term(work, "weights", trainable, 32, "weights", source, is_divided)
    else:
        yield _term(work, "weights", count, size, "weights", source, is_divided and "precision" in fields)
    if not trains or not trainable.total:
        return
    yield _term(work, "gradients", trainable, _gradient_bits(work), "gradients", source, is_divided)
    state = 8 * OPTIMIZERS[work.optimizer]
    copy = 32 if size < 32 and not in_32 and work.optimizer != ADAM_16 else 0
    main = 32 if work.estimate.precision == "fp16" and sharding in (MEGATRON, DISTRIBUTED) else 0
    if bits := state + copy + main:
        yield _term(work, "optimizer", trainable, bits, "optimizer", source, is_divided and "optimizer" in fields)


def _stores_32_bits(work: Work) -> bool:
    """Return True if trained weights are stored in 32 bits: by FSDP, unless Adam's states have 16."""
    return work.estimate.sharding == FSDP and work.optimizer != ADAM_16


def _gradient_bits(work: Work) -> int:
    """Return the bits per gradient: FSDP and Megatron add bf16 gradients up in 32 bits."""
    precision = work.estimate.precision
    in_32 = _stores_32_bits(work) or (work.estimate.sharding in (MEGATRON, DISTRIBUTED) and precision != "fp16")
    return 32 if in_32 else BITS[precision]


def _term(work: Work, name: str, count: WeightShare, bits: int, part: str, source: str, certain: bool) -> MemoryTerm:
    is_divided = part in _DIVIDED[work.estimate.sharding]
    ranks, few = (work.ranks, work.expert_ranks) if is_divided else (1, 1)
    size = -(-(count.dense * few + count.experts * ranks) * bits // (8 * ranks * few))
    if count.experts and few != ranks:
        words = "({} parameters / {} ranks + {} of experts" + (" / {} ranks" if few > 1 else "") + ") x {} bytes"
        figures: tuple[object, ...] = (count.dense, ranks, count.experts, *((few,) if few > 1 else ()), _per_number(bits))
    else:
        words, figures = "{} parameters x {} bytes" + (" / {} ranks" if ranks > 1 else ""), (count.total, _per_number(bits), ranks)
    # Programs free the gradients after a step (PyTorch: `zero_grad` sets them to None);
    # Megatron keeps its buffer.
    is_kept = part != "gradients" or work.estimate.sharding in (MEGATRON, DISTRIBUTED)
    return MemoryTerm(name, size, words, figures, source, is_kept, certain=certain)


def _per_number(bits: int) -> int | float:
    return bits // 8 if bits % 8 == 0 else bits / 8


def estimate_memory(
    component: Component, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None = None
) -> EstimatedTotal | None:
    """Return the estimate for given degrees and accelerators; None without input.

    Parameters
    ----------
    card : known numbers of the model, besides the component's estimate.
    capacity : MiB of an accelerator, if known: engines take a part of it.
    """
    if component.estimate is None:
        return None
    estimate, optimizer = component.estimate, optimizer_of(component)
    serves = optimizer == NONE and (role_of(component) == ROLLOUT or bool(estimate.sequences or estimate.utilization))
    size = capacity if estimate.utilization else None
    return _estimate(estimate, card, parallel, accelerators, size, optimizer, serves, estimate.written)


@lru_cache(maxsize=65_536)
def _estimate(
    estimate: MemoryInput, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None, optimizer: str, serves: bool,
    fields: tuple[str, ...],
) -> EstimatedTotal | None:  # fmt: skip
    shape = _shape(estimate, card)
    if not shape.total:
        return None
    work = Work(shape, estimate, parallel, optimizer, serves, accelerators, capacity)
    of_model, of_process = tuple(states(work)), tuple(resident(work))
    if serves:
        worst, low, high = find_worst_moment([serving(work, (*of_model, *of_process))])
    else:
        worst, low, high = find_worst_moment([(*moment, *of_process, allocator(moment)) for moment in moments(work, of_model)])
    certain = 0 if card is not None and card.assumed else mebibytes(term.low for term in of_model if term.certain)
    return EstimatedTotal(
        tuple(worst),
        tuple(_missing(work)),
        tuple(_list_assumptions(work, card, "recompute" in fields)),
        estimate.offload,
        low,
        high,
        certain,
    )


@lru_cache(maxsize=1024)
def _shape(estimate: MemoryInput, card: ModelCard | None) -> ModelShape:
    return shape_of(estimate, card)


def _missing(work: Work) -> list[str]:
    """Return sentences on inputs that are unknown and not counted."""
    term, shape = "the cache" if work.serves else "activations", work.shape
    sentences = ["parts of the model for images or sound: `parameters` is unset"] if shape.multimodal and not shape.parameters else []
    if work.estimate.lora_rank and not work.estimate.trainable and work.optimizer != NONE and not shape.adapters(1):
        sentences.append("adapters: the layers and the width of the model are not known")
    if not work.estimate.sequence:
        sentences.append(f"{term}: `sequence` is unset")
    elif not (shape.layers and shape.hidden and (shape.cached or not work.serves)):
        sentences.append(f"{term}: the layers and the width of the model are not known")
    return sentences


def _list_assumptions(work: Work, card: ModelCard | None, says_recompute: bool) -> list[str]:
    """Return sentences on the assumptions of the estimate."""
    sentences = [f"the model is taken for `{card.name}`, by the last part of its path"] if card is not None and card.assumed else []
    if not work.shape.parameters:
        sentences.append(f"{work.shape.counted:,} parameters, counted from the shape of the model, with gated feed-forward parts")
    estimate, shape = work.estimate, work.shape
    if work.serves or not (estimate.sequence and shape.layers and shape.hidden):
        return sentences
    if work.optimizer != NONE and estimate.recompute == FULL and not says_recompute:
        sentences.append("layers are computed again in the backward pass (`recompute: full`)")
    if work.parallel.tp > 1:
        sentences.append("tp ranks divide all that is kept (sequence parallelism)")
    return sentences


def with_estimates(job: Job, states_divisions: bool) -> Job:
    """Return the job with a model for every component with an estimate.

    A framework's own model has priority. `states_divisions`: True if the divisions of the model by degrees
    are stated here; a framework states them itself.
    """
    uses = dict(job.models)
    for component in job.components:
        estimate = component.estimate
        if estimate is None:
            continue
        use = uses.get(component.name)
        if use is None:
            uses[component.name] = ModelUse(
                estimate.model, ESTIMATE, _splits(component) if states_divisions else (), component.span(ESTIMATE)
            )
        elif estimate.model and (use.key == ESTIMATE or not use.path):
            uses[component.name] = replace(use, path=estimate.model)
    components = tuple(
        replace(component, estimate=as_run(component.estimate, uses[component.name].run)) if component.estimate else component
        for component in job.components
    )
    return replace(job, models=uses, components=components)


def with_degrees(job: Job) -> Job:
    """Return the job with unnamed models for components whose degrees could divide one."""
    uses = dict(job.models)
    for component in job.components:
        splits, degrees = _splits(component), job.choices.get(component.name, (component.parallel,))
        if component.name not in uses and any(split.of(parallel) > 1 for parallel in degrees for split in splits):
            uses[component.name] = ModelUse("", DEGREES, splits, component.span(DEGREES))
    return replace(job, models=uses)


def with_estimate_numbers(component: Component, card: ModelCard | None) -> ModelCard | None:
    """Return a component's model card, overridden by the estimate."""
    estimate = component.estimate
    numbers: dict[str, Any] = {name: value for name in NUMBERS if (value := getattr(estimate, name, 0))} if estimate else {}
    if not numbers:
        return card
    return replace(card, **numbers) if card else ModelCard.of(f"{component.name}.estimate", numbers)


def _splits(component: Component) -> tuple[Split, ...]:
    """Return the divisions of an engine, else of Megatron, with the split of layers unproved."""
    if optimizer_of(component) == NONE and role_of(component) == ROLLOUT:
        return engine_splits({})
    return tuple(replace(split, proved=False) if split.card_field == "layers" else split for split in megatron_splits({}))
