"""Time of a forward pass: log probabilities of actor and reference, values, rewards of a model."""

from __future__ import annotations

from math import inf

from .interval import Interval, exactly
from .model_run import HALF, ModelRun, SequenceBatch


def infer_seconds(run: ModelRun, batch: SequenceBatch, micro_batches: float = inf) -> Interval:
    """Return the seconds of one forward pass over the batch.

    `micro_batches`: of each rank; infinite for an engine, which has graphs. Operations over what the accelerators reach (arXiv 2205.05198,
    appendix A), the longest share of the data parallel ranks, and the all-reduces of tensor parallelism, two a layer (Megatron-LM, arXiv
    1909.08053, section 3).
    """
    efficiency = run.efficiency.infer_experts if run.shape.experts else run.efficiency.infer
    seconds = run.forward(batch, efficiency, run.efficiency.infer).times(run.efficiency.imbalance)
    return (
        seconds.plus(time_communication(run, batch, 1))
        .plus(time_launches(run, micro_batches))
        .times(compute_stage_factor(run, micro_batches))
    )


def time_launches(run: ModelRun, passes: float) -> Interval:
    """Return the seconds in which layers with experts wait for their host."""
    layers = (run.shape.layers - run.shape.dense_layers) / run.parallel.pp
    return run.efficiency.expert_layer.times(layers * passes if run.shape.experts and passes < inf else 0.0)


def compute_stage_factor(run: ModelRun, micro_batches: float) -> float:
    """Return what pipeline stages multiply the time by: layers of the fullest over the mean, and the bubble.

    The bubble is (pp - 1) / micro batches of the work (arXiv 2104.04473, section 2.2).
    """
    pp, layers = run.parallel.pp, run.shape.layers
    return -(-layers // pp) * pp / layers * (1 + (pp - 1) / micro_batches)


def time_communication(run: ModelRun, batch: SequenceBatch, passes: int) -> Interval:
    """Return the seconds in which ranks exchange activations, in so many passes forward or backward."""
    return time_all_reduce(run, batch, 2 * passes).plus(time_all_to_all(run, batch, 2 * passes)).plus(split(run, batch, passes))


def split(run: ModelRun, batch: SequenceBatch, times: int) -> Interval:
    """Return the seconds in which the ranks of a sequence exchange their parts.

    Of queries, keys, values and outputs a share (cp - 1) / cp goes to other ranks: DeepSpeed Ulysses, arXiv 2309.14509,
    section 3.2; a ring of keys and values sends as much or less.
    """
    cp, shape = run.parallel.cp, run.shape
    if cp == 1:
        return exactly(0.0)
    of_token = 2 * (shape.heads + (shape.kv_heads or shape.heads)) * shape.head_size * HALF * (cp - 1) / cp
    of_rank = of_token * times * shape.layers / run.accelerators
    return batch.tokens.times(of_rank).over(run.own_link(cp * run.parallel.tp))


def time_all_reduce(run: ModelRun, batch: SequenceBatch, times: int) -> Interval:
    """Return the seconds of so many all-reduces of activations a layer among tp ranks."""
    tp, replicas = run.parallel.tp, run.accelerators / (run.parallel.tp * run.parallel.pp)
    a_token = run.ring(float(run.shape.hidden * HALF), tp)
    return batch.tokens.times(a_token).times(times * run.shape.layers / run.parallel.pp / replicas)


def time_all_to_all(run: ModelRun, batch: SequenceBatch, times: int) -> Interval:
    """Return the seconds of so many all-to-alls a layer among expert parallel ranks.

    Each token goes to its active experts, a share (ep - 1) / ep of them elsewhere: GShard, arXiv
    2006.16668, section 3.2.
    """
    ep, shape = run.parallel.ep, run.shape
    if ep == 1 or not shape.experts:
        return Interval(0.0, 0.0, 0.0)
    of_token = shape.hidden * HALF * min(shape.active_experts, ep) * (ep - 1) / ep
    layers = (shape.layers - shape.dense_layers) / run.parallel.pp
    ranks = run.accelerators / run.parallel.pp
    return batch.tokens.times(of_token * times * layers / ranks).over(run.own_link(run.expert_ranks))
