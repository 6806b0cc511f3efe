"""Time of generation: prompts, decode steps against the memory's bandwidth, and the long tail."""

from __future__ import annotations

from functools import lru_cache

from .hardware import TERA
from .infer import infer_seconds
from .interval import Interval, exactly
from .model_run import HALF, ModelRun, SequenceBatch

GIBIBYTE = 1 << 30
_PIECES = 64
"""Pieces of the time from the first token to the last."""
SEQUENCES = 1024
"""Most sequences of an engine at a time: vLLM's default on large accelerators (vllm/config/scheduler.py)."""


@lru_cache(maxsize=10_000)  # a plan is written and read again, each time with all counts
def generate_seconds(
    run: ModelRun, batch: SequenceBatch, utilization: float = 0.9, most: int = SEQUENCES, has_tail: bool = True
) -> Interval:
    """Return the seconds in which all replicas answer the batch.

    Without a tail further sequences wait at any time, as where several batches are under way.

    Prompts take a forward pass. Then a replica has as many sequences at a time as its cache holds;
    while others wait it is full, and at last the longest answers are alone. Source: PagedAttention,
    arXiv 2309.06180, section 3; the tail: RollPacker, arXiv 2509.21009, section 2.
    """
    prompts = infer_seconds(run, SequenceBatch(batch.sequences, batch.prompt, exactly(0.0), 0))
    of_replica = batch.sequences / run.replicas
    decoding = (_decode(run, batch, of_replica, bound, utilization, most, has_tail) for bound in range(3))
    return prompts.plus(Interval(*decoding))


def capacity(run: ModelRun, length: float, utilization: float = 0.9, most: int = SEQUENCES) -> float:
    """Return the sequences that a replica's cache holds at a time, at least one."""
    cache_bytes = run.speed.memory * GIBIBYTE * utilization - _weights(run) - 2 * GIBIBYTE
    of_sequence = length * run.shape.layers / run.parallel.pp * run.shape.cached * HALF / _parts_of_cache(run)
    return min(float(most), max(1.0, cache_bytes / of_sequence * run.parallel.dp))


def _decode(run: ModelRun, batch: SequenceBatch, sequences: float, bound: int, utilization: float, most: int, has_tail: bool) -> float:
    """Return the seconds of all decode steps, with one bound of every factor."""
    mean, longest = min(batch.response[bound], batch.longest), float(batch.longest)
    at_once = min(sequences, capacity(run, batch.prompt + mean, utilization, most))
    full = (sequences - (at_once if has_tail else 0)) * mean / at_once * _step(run, at_once, batch.prompt + mean / 2, bound)
    if not has_tail:
        return full
    # Of answers that began together a share (1 - t / longest) ** power is not yet done after t tokens: its mean is `mean`.
    power, tail = longest / mean - 1, 0.0
    for piece in range(_PIECES):
        progress = (piece + 0.5) / _PIECES
        remaining = max(1.0, at_once * (1 - progress) ** power) if at_once * (1 - progress) ** power > 1 / _PIECES else 0.0
        tail += _step(run, remaining, batch.prompt + progress * longest, bound) * longest / _PIECES if remaining else 0.0
    return full + tail


def _step(run: ModelRun, sequences: float, context: float, bound: int) -> float:
    """Return the seconds of a decode step of one replica.

    Weights are read once for all sequences, keys and values of each; a layer has two all-reduces (of
    tens of kilobytes, so their latency counts). Of experts those are read that some sequence uses.
    Stages of a pipeline work at a time, each on its part of the sequences; a token passes all of them.
    """
    factors, shape, parallel = run.efficiency, run.shape, run.parallel
    slow = 2 - bound  # the high of a time is over the low of an efficiency
    bandwidth = run.speed.bandwidth * TERA * factors.decode[slow]
    active_share = 1 - (1 - shape.active_experts / shape.experts) ** sequences if shape.experts else 1.0
    dense = (shape.total - shape.expert_parameters) * HALF / parallel.tp
    experts = shape.expert_parameters * HALF * active_share / max(parallel.ep, parallel.tp * parallel.dp)
    cache_bytes = sequences / (parallel.dp * parallel.pp) * context * shape.layers * shape.cached * HALF / _parts_of_cache(run)
    peak = (factors.infer_experts if shape.experts else factors.infer)[slow] * run.speed.bf16 * TERA
    compute_seconds = 2 * run.active * sequences / (parallel.tp * parallel.dp * parallel.pp * peak)
    all_reduces = 0.0
    if parallel.tp > 1:
        latency = factors.reduce_far if run.crosses(parallel.tp) else factors.reduce_near
        reduce_seconds = run.ring(float(sequences * shape.hidden * HALF), parallel.tp)[bound]
        all_reduces = 2 * shape.layers * (latency[bound] + reduce_seconds)
    reading = (dense + experts) / bandwidth
    return (
        max(reading, compute_seconds)
        + cache_bytes / bandwidth
        + all_reduces
        + factors.step[bound]
        + shape.layers * factors.layer_step[bound]
    )


def _weights(run: ModelRun) -> float:
    """Return the bytes of weights on an accelerator of a replica."""
    shape, parallel = run.shape, run.parallel
    of_experts = shape.expert_parameters / max(parallel.ep, parallel.tp * parallel.dp)
    return ((shape.total - shape.expert_parameters) / parallel.tp + of_experts) / parallel.pp * HALF


def _parts_of_cache(run: ModelRun) -> int:
    """Return among how many ranks keys and values divide; a latent is on every rank."""
    return 1 if run.shape.latent else min(run.parallel.tp, run.shape.kv_heads or run.shape.heads)
