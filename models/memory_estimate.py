"""Estimated memory of a component per accelerator, term by term."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, Iterator, Sequence

from .component import Component
from .estimate import BITS, DISTRIBUTED, FSDP, FULL, MEGATRON, NONE, OPTIMIZERS, ZERO1, ZERO2, ZERO3, MemoryInput
from .findings.wording import plural
from .job import Job
from .memory_work import ModelShape, WeightShare, Work, as_run, optimizer_of, shape_of
from .model_cards.card import NUMBERS, ModelCard
from .model_cards.use import DEGREES, ESTIMATE, ModelUse, Split, engine_splits, megatron_splits
from .parallel import Parallel
from .record import dataclass
from .roles import ROLLOUT, role_of

MEBIBYTE = 1 << 20
ZERO_PAPER = "ZeRO, arXiv 1910.02054, section 3.1 and figure 1"
FSDP_PAPER = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 4.4"
PREFETCHING = "PyTorch FSDP, arXiv 2304.11277, sections 3.2 and 3.3"
MEGATRON_PAGE = "Megatron-LM, docs/user-guide/features/dist_optimizer.md"
_DIVIDED = {
    NONE: (), ZERO1: ("optimizer",), ZERO2: ("optimizer", "gradients"), ZERO3: ("optimizer", "gradients", "weights"),
    FSDP: ("optimizer", "gradients", "weights"), MEGATRON: (), DISTRIBUTED: ("optimizer",),
}  # fmt: skip
"""Sharding -> states that data parallel ranks divide."""
ACTIVATIONS_PAPER = "Reducing Activation Recomputation, arXiv 2205.05198, sections 4.1 to 5"
OUTPUT = "Reducing Activation Recomputation, arXiv 2205.05198, section 4.3"
_HALF, _FULL = 2, 4
"""Bytes of a number: activations are stored in 16 bits, logits in 32."""
PAPER = "PagedAttention, arXiv 2309.06180, section 3"
ENGINE = "vLLM, vllm/config/cache.py (CacheConfig.gpu_memory_utilization)"


@dataclass(frozen=True, slots=True)
class MemoryTerm:
    """Bytes on an accelerator for a purpose.

    Attributes
    ----------
    name : purpose, such as ``optimizer``.
    size : bytes, rounded up.
    words : formula with a placeholder for each of `figures`.
    source : source of the formula.
    stays : True if the memory stays during other phases, unless the component is offloaded.
    """

    name: str
    size: int
    words: str
    figures: tuple[object, ...]
    source: str
    stays: bool = True

    @property
    def mebibytes(self) -> int:
        """MiB, rounded up."""
        return -(-self.size // MEBIBYTE)

    @property
    def formula(self) -> str:
        """Formula with numbers filled in."""
        return self.words.format(*(f"{figure:,}" if isinstance(figure, int) else figure for figure in self.figures))


@dataclass(frozen=True, slots=True)
class Estimated:
    """Estimated need of a component per accelerator.

    Attributes
    ----------
    terms : counted terms.
    missing : uncounted terms with the missing input, a sentence each.
    assumed : assumptions.
    offloaded : True if the component leaves its accelerators during other phases.
    """

    terms: tuple[MemoryTerm, ...]
    missing: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    offloaded: bool = False

    @property
    def mebibytes(self) -> int:
        """MiB while working."""
        return -(-sum(term.size for term in self.terms) // MEBIBYTE)

    @property
    def kept(self) -> int:
        """MiB kept while another phase runs."""
        return 0 if self.offloaded else -(-sum(term.size for term in self.terms if term.stays) // MEBIBYTE)


def states(work: Work) -> Iterator[MemoryTerm]:
    """Yield a term per training state; weights alone without training.

    DeepSpeed's own estimators (deepspeed/runtime/zero/stage_1_and_2.py and stage3.py,
    estimate_zero2_model_states_mem_needs and its like) count more for each divided parameter, 4
    bytes for `zero2` and 2 for `zero3`: gradients in 32 bits during the optimizer step. By then
    activations, which need more, are freed; these bytes are not added here.
    """
    sharding, size = work.estimate.sharding, BITS[work.estimate.precision]
    source = FSDP_PAPER if sharding == FSDP else MEGATRON_PAGE if sharding in (MEGATRON, DISTRIBUTED) else ZERO_PAPER
    trains = work.optimizer != NONE
    count, trained = work.parameters, work.trained
    if trains and sharding == FSDP:  # trained weights are stored in 32 bits and cast for use
        frozen = WeightShare(count.dense - trained.dense, count.experts - trained.experts)
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
    """Return the bits per gradient: FSDP and Megatron add bf16 gradients up in 32 bits."""
    return 32 if sharding == FSDP or (sharding in (MEGATRON, DISTRIBUTED) and precision != "fp16") else BITS[precision]


def _term(work: Work, name: str, count: WeightShare, bits: int, part: str, source: str) -> MemoryTerm:
    divided = part in _DIVIDED[work.estimate.sharding]
    ranks, few = (work.ranks, work.expert_ranks) if divided else (1, 1)
    size = -(-(count.dense * few + count.experts * ranks) * bits // (8 * ranks * few))
    if count.experts and few != ranks:
        words = "({} parameters / {} ranks + {} of experts" + (" / {} ranks" if few > 1 else "") + ") x {} bytes"
        figures: tuple[object, ...] = (count.dense, ranks, count.experts, *((few,) if few > 1 else ()), _per_number(bits))
    else:
        words, figures = "{} parameters x {} bytes" + (" / {} ranks" if ranks > 1 else ""), (count.total, _per_number(bits), ranks)
    # Programs free the gradients after a step (PyTorch: `zero_grad` sets them to None);
    # Megatron keeps its buffer.
    stays = part != "gradients" or work.estimate.sharding in (MEGATRON, DISTRIBUTED)
    return MemoryTerm(name, size, words, figures, source, stays)


def _per_number(bits: int) -> int | float:
    return bits // 8 if bits % 8 == 0 else bits / 8


def gathered(work: Work) -> Iterator[MemoryTerm]:
    """Yield weights whole for a moment: two layers, and embedding and head throughout."""
    shape = work.shape
    if work.whole or work.ranks == 1 or not shape.layers:
        return
    outer = -(-(shape.embedding + (shape.head if work.parallel.pp == 1 else 0)) // work.parallel.tp)
    divided = work.dense + (work.experts if work.expert_ranks > 1 else 0)  # the rest is whole anyway
    layer = -(-max(0, divided - outer) // max(1, work.stage_layers))
    size = work.bytes_of(2 * layer + outer)
    words = "(2 layers x {} + {} of embedding and head) x {} bytes"
    yield MemoryTerm("gathered weights", size, words, (layer, outer, _per_number(BITS[work.estimate.precision])), PREFETCHING, stays=False)


def activations(work: Work) -> Iterator[MemoryTerm]:
    """Yield the activations of a micro batch, in the pipeline stage with the highest need.

    That is the first stage, with as many micro batches in flight as stages, or the last, with one
    micro batch and the logits (section 4.2.3 of the paper, of 1F1B). tp ranks divide all of it,
    with sequence parallelism (section 4.2.2).
    """
    shape, tokens, stages = work.shape, work.tokens, work.parallel.pp
    if not (tokens and shape.hidden and shape.layers):
        return
    logits = [_kept_term(work, "logits", OUTPUT, "{} tokens x {} of the vocabulary x {} bytes", tokens, shape.vocabulary, _FULL)]
    outer = logits if shape.vocabulary else []
    if work.optimizer == NONE:
        yield _kept_term(work, "activations", ACTIVATIONS_PAPER, "{} tokens x {} bytes of one layer", tokens, layer_bytes(work))
        yield from outer
    elif stages == 1:
        yield from (*_kept(work, 1), *outer)
    else:
        yield from max([*_kept(work, stages)], [*_kept(work, 1), *outer], key=lambda terms: sum(term.size for term in terms))


def _kept(work: Work, batches: int) -> Iterator[MemoryTerm]:
    """Yield the activations that the layers of a stage store for some micro batches."""
    tokens = work.tokens
    layers = f"{{}} {plural('layer', work.stage_layers)}"
    words, figures = layers + " x {} tokens x {} bytes", [work.stage_layers, tokens]
    if batches > 1:
        words, figures = layers + " x {} micro batches x {} tokens x {} bytes", [work.stage_layers, batches, tokens]
    if work.estimate.recompute == FULL:
        yield _kept_term(work, "inputs of layers", ACTIVATIONS_PAPER, words, *figures, _HALF * work.shape.hidden)
        yield _kept_term(work, "one layer again", ACTIVATIONS_PAPER, "{} tokens x {} bytes", tokens, layer_bytes(work))
    else:
        yield _kept_term(work, "activations", ACTIVATIONS_PAPER, words, *figures, layer_bytes(work))


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
    dropout, which is not used here: 34 x the width. Norms that are not one kernel, as in
    transformers' own models, keep 8 x the width more; a gate that is one kernel, as Megatron's,
    keeps 2 x its width less.
    """
    shape, estimate = work.shape, work.estimate
    wide, stored = shape.intermediate, 4 * shape.hidden + _attention(work)
    if shape.experts:  # each token is copied to its active experts and back
        wide = shape.expert_intermediate * (shape.active_experts + shape.shared_experts)
        stored += 2 * shape.hidden * shape.active_experts
    stored += 4 * wide
    scores = 5 * shape.heads * estimate.sequence if estimate.attention_scores and estimate.recompute == NONE else 0
    return _HALF * stored + scores


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


def cache(work: Work, known_terms: Sequence[MemoryTerm]) -> Iterator[MemoryTerm]:
    """Yield the cache of the sequences, and the rest of a reserved share.

    The rest is left beside `known_terms` if the engine reserves a share of the accelerator whatever it
    needs. tp ranks divide key-value heads, and repeat them if there are fewer; a latent is on every
    rank. Data parallel ranks in an engine have sequences of their own (vLLM,
    docs/serving/data_parallel_deployment.md).
    """
    shape, estimate, parallel = work.shape, work.estimate, work.parallel
    needed = 0
    if estimate.sequence and shape.cached and shape.layers:
        sequences, bits = -(-(estimate.sequences or 1) // parallel.dp), BITS[precision(work)]
        heads = shape.kv_heads or shape.heads
        divisor = 1 if shape.latent else min(parallel.tp, heads)
        tokens = sequences * -(-estimate.sequence // parallel.cp)
        token_bytes = -(-shape.cached * bits // (8 * divisor))
        needed = tokens * work.stage_layers * token_bytes
        words = "{} sequence" + "s" * (sequences > 1) + " x {} tokens x {} layers x {} bytes"
        yield MemoryTerm("cache", needed, words, (sequences, tokens // sequences, work.stage_layers, token_bytes), PAPER)
    if estimate.utilization and work.capacity:
        rest = work.capacity * MEBIBYTE * estimate.utilization // 100 - needed - sum(term.size for term in known_terms)
        if rest > 0:
            words = "{} % of {} MiB, less what is needed"
            yield MemoryTerm("more cache", rest, words, (estimate.utilization, work.capacity), ENGINE)


def precision(work: Work) -> str:
    """Return the precision of the cache: that of the weights if at least 16 bits."""
    own = work.estimate.precision
    return work.estimate.cache or (own if own in ("bf16", "fp16") else "bf16")


SLACK = 10
"""Percent of an accelerator kept free of estimates.

It is for what is not estimated: the context of CUDA, buffers of communication and of graphs,
fragments that the allocator cannot use, and what an engine needs for a step.
"""


def estimated(
    component: Component, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None = None
) -> Estimated | None:
    """Return the estimate for given degrees and accelerators; None without input.

    Parameters
    ----------
    card : known numbers of the model, besides the component's estimate.
    accelerators : accelerators of all replicas together.
    capacity : MiB of an accelerator, if known: engines take a part of it.
    """
    if component.estimate is None:
        return None
    estimate, optimizer = component.estimate, optimizer_of(component)
    serves = optimizer == NONE and (role_of(component) == ROLLOUT or bool(estimate.sequences or estimate.utilization))
    size = capacity if estimate.utilization else None
    return _estimated(estimate, card, parallel, accelerators, size, optimizer, serves, "recompute" in estimate.written)


def with_slack(mebibytes: int) -> int:
    """Return the MiB to reserve for an estimate, so that `SLACK` percent remain."""
    return -(-mebibytes * 100 // (100 - SLACK))


@lru_cache(maxsize=65_536)
def _estimated(
    estimate: MemoryInput, card: ModelCard | None, parallel: Parallel, accelerators: int, capacity: int | None, optimizer: str, serves: bool,
    says_recompute: bool,
) -> Estimated | None:  # fmt: skip
    shape = _shape(estimate, card)
    if not shape.total:
        return None
    work = Work(shape, estimate, parallel, optimizer, serves, accelerators, capacity)
    terms = [*states(work), *gathered(work)]
    terms += cache(work, tuple(terms)) if serves else activations(work)
    return Estimated(tuple(terms), tuple(_missing(work)), tuple(_assumed(work, card, says_recompute)), estimate.offload)


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


def _assumed(work: Work, card: ModelCard | None, says_recompute: bool) -> list[str]:
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


def with_estimates(job: Job, divided: bool) -> Job:
    """Return the job with a model for every component with an estimate.

    A framework's own model has priority. `divided`: True if the divisions of the model by degrees
    are stated here; a framework states them itself.
    """
    uses = dict(job.models)
    for component in job.components:
        estimate = component.estimate
        if estimate is None:
            continue
        use = uses.get(component.name)
        if use is None:
            uses[component.name] = ModelUse(estimate.model, ESTIMATE, _splits(component) if divided else (), component.span(ESTIMATE))
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
