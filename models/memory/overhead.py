"""Context, communication, allocator, and what an engine holds beside weights."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..estimate import BITS
from ..findings.wording import with_noun
from .terms import EXACT, MEBIBYTE, MemoryTerm, Moment
from .work import Work

PAPER = "PagedAttention, arXiv 2309.06180, section 3"
ENGINE = "vLLM, vllm/config/cache.py (CacheConfig.gpu_memory_utilization)"
BATCHED = "vLLM, vllm/config/scheduler.py (max_num_batched_tokens, max_num_seqs)"
GRAPHS = "vLLM, docs/configuration/conserving_memory.md (CUDA graphs), outside of what an engine reserves"
CONTEXT = "measured on one H200: 0.5 to 0.6 GiB of context, 69 MiB of matrix libraries"
BUFFERS = "NCCL user guide, NCCL_BUFFSIZE (4 MiB a channel and peer) and NCCL_MAX_CTAS"
CACHED = "PyTorch, docs/source/notes/cuda.rst (memory management): blocks that no tensor fits"
_CONTEXT, _GROUP, _GRAPHS = 614 * MEBIBYTE, 256 * MEBIBYTE, 512 * MEBIBYTE
_STEP_TOKENS, _STEP_SEQUENCES = 8192, 256
"""Most tokens and sequences of one step of an engine: vLLM's defaults."""


def resident(work: Work) -> Iterator[MemoryTerm]:
    """Yield what a process holds until its end, also if its component is offloaded."""
    words = "{} bytes of the driver's context and matrix libraries"
    yield MemoryTerm("context", _CONTEXT, words, (_CONTEXT,), CONTEXT, spread=(0.65, 1.5), fixed=True)
    parallel = work.parallel
    groups = sum(
        degree > 1 for degree in (parallel.tp, parallel.pp, parallel.cp, parallel.ep, work.accelerators // (parallel.tp * parallel.pp))
    )
    if groups and not work.serves:
        words = f"{{}} {'groups' if groups > 1 else 'group'} x {{}} bytes of buffers"
        yield MemoryTerm("communication", groups * _GROUP, words, (groups, _GROUP), BUFFERS, spread=(0.2, 2.0), fixed=True)
    elif parallel.tp * parallel.pp > 1:
        yield MemoryTerm("communication", _GROUP, "{} bytes of buffers", (_GROUP,), BUFFERS, spread=(0.2, 2.0), fixed=True)


def allocator(moment: Moment) -> MemoryTerm:
    """Return what the allocator holds beside the passing tensors of a moment.

    It reserves more, up to as much again, but frees what it reserved before it fails.
    """
    passing = sum(term.size for term in moment if not term.stays)
    return MemoryTerm("allocator", -(-passing // 20), "{} bytes that come and go / 20", (passing,), CACHED, stays=False, spread=(0.0, 3.0))


def serving(work: Work, known_terms: Sequence[MemoryTerm]) -> Moment:
    """Return the terms of an engine: known ones, cache, one step, graphs, the rest.

    What an engine reserves of the accelerator it takes whatever it needs, and graphs beside it. tp
    ranks divide key-value heads, and repeat them if there are fewer; a latent is on every rank.
    Data parallel ranks in an engine have sequences of their own (vLLM,
    docs/serving/data_parallel_deployment.md).
    """
    shape, estimate, parallel = work.shape, work.estimate, work.parallel
    terms = list(known_terms)
    if estimate.sequence and shape.cached and shape.layers:
        sequences, bits = -(-(estimate.sequences or 1) // parallel.dp), BITS[precision(work)]
        heads = shape.kv_heads or shape.heads
        divisor = 1 if shape.latent else min(parallel.tp, heads)
        tokens = sequences * -(-estimate.sequence // parallel.cp)
        token_bytes = -(-shape.cached * bits // (8 * divisor))
        words = "{} sequence" + "s" * (sequences > 1) + " x {} tokens x {} layers x {} bytes"
        figures: tuple[int, ...] = (sequences, tokens // sequences, work.stage_layers, token_bytes)
        terms.append(MemoryTerm("cache", tokens * work.stage_layers * token_bytes, words, figures, PAPER))
        terms.append(_one_step(work, sequences, tokens))
    if estimate.utilization and work.capacity:
        rest = work.capacity * MEBIBYTE * estimate.utilization // 100 - sum(term.size for term in terms)
        if rest > 0:
            words, figures = "{} % of {} MiB, less what is needed", (estimate.utilization, work.capacity)
            terms = [*(term.of(EXACT) for term in terms), MemoryTerm("more cache", rest, words, figures, ENGINE)]
    return (*terms, MemoryTerm("graphs", _GRAPHS, "{} bytes of captured graphs", (_GRAPHS,), GRAPHS, spread=(0.2, 2.0), fixed=True))


def _one_step(work: Work, sequences: int, cached_tokens: int) -> MemoryTerm:
    """Return the tensors of the largest step: a layer's activations, and logits in 32 bits twice."""
    shape, tokens = work.shape, min(_STEP_TOKENS, cached_tokens)
    width = shape.intermediate or shape.expert_intermediate * (shape.active_experts + shape.shared_experts)
    a_token, rows = 2 * (4 * shape.hidden + 3 * -(-width // work.parallel.tp)), min(_STEP_SEQUENCES, sequences)
    words, figures = (
        "{} tokens x {} bytes + {} x {} of the vocabulary x 8 bytes",
        (tokens, a_token, with_noun(rows, "sequence"), shape.vocabulary),
    )
    size = tokens * a_token + rows * shape.vocabulary * 8
    return MemoryTerm("one step", size, words, figures, BATCHED, stays=False, spread=(0.25, 2.0))


def precision(work: Work) -> str:
    """Return the precision of the cache: that of the weights if at least 16 bits."""
    of_weights = work.estimate.precision
    return work.estimate.cache or (of_weights if of_weights in ("bf16", "fp16") else "bf16")
