"""The cache of an inference engine: keys and values of the sequences that it works on."""

from __future__ import annotations

from typing import Iterator, Sequence

from ..estimate import BITS
from .term import MEBIBYTE, Term
from .work import Work

PAPER = "PagedAttention, arXiv 2309.06180, section 3"
ENGINE = "vLLM, vllm/config/cache.py (CacheConfig.gpu_memory_utilization)"


def cache(work: Work, others: Sequence[Term]) -> Iterator[Term]:
    """What the sequences need; or, where the engine takes a part of the accelerator whatever it needs, what that leaves beside `others`.

    tp ranks divide key-value heads among themselves, and repeat them where there are fewer; a latent is on every one of them. Data parallel
    ranks in an engine have sequences of their own (vLLM, docs/serving/data_parallel_deployment.md).
    """
    shape, estimate, parallel = work.shape, work.estimate, work.parallel
    needed = 0
    if estimate.sequence and shape.cached and shape.layers:
        sequences, bits = -(-(estimate.sequences or 1) // parallel.dp), BITS[precision(work)]
        heads = shape.kv_heads or shape.heads
        divisor = 1 if shape.latent else min(parallel.tp, heads)
        tokens = sequences * -(-estimate.sequence // parallel.cp)
        each = -(-shape.cached * bits // (8 * divisor))
        needed = tokens * work.stage_layers * each
        words = "{} sequence" + "s" * (sequences > 1) + " x {} tokens x {} layers x {} bytes"
        yield Term("cache", needed, words, (sequences, tokens // sequences, work.stage_layers, each), PAPER)
    if estimate.utilization and work.capacity:
        rest = work.capacity * MEBIBYTE * estimate.utilization // 100 - needed - sum(term.size for term in others)
        if rest > 0:
            words = "{} % of {} MiB, less what is needed"
            yield Term("more cache", rest, words, (estimate.utilization, work.capacity), ENGINE)


def precision(work: Work) -> str:
    """That of the cache: of the weights, if that has 16 bits or more."""
    own = work.estimate.precision
    return work.estimate.cache or (own if own in ("bf16", "fp16") else "bf16")
