"""Time of a forward pass: log probabilities of actor and reference, values, rewards of a model."""

from __future__ import annotations

from .interval import Interval
from .model_run import HALF, ModelRun, SequenceBatch


def infer_seconds(run: ModelRun, batch: SequenceBatch) -> Interval:
    """Return the seconds of one forward pass over the batch.

    Operations over what the accelerators reach (arXiv 2205.05198, appendix A), the longest share of
    the data parallel ranks, and the all-reduces of tensor parallelism, two a layer (Megatron-LM, arXiv
    1909.08053, section 3).
    """
    reached = run.efficiency.infer_experts if run.shape.experts else run.efficiency.infer
    seconds = run.forward(batch).over(reached.times(run.peak)).times(run.efficiency.imbalance)
    return seconds.plus(reduced(run, batch, 2)).plus(exchanged(run, batch, 2))


def reduced(run: ModelRun, batch: SequenceBatch, times: int) -> Interval:
    """Return the seconds of so many all-reduces of activations a layer among tp ranks."""
    tp, replicas = run.parallel.tp, run.accelerators / (run.parallel.tp * run.parallel.pp)
    a_token = run.ring(float(run.shape.hidden * HALF), tp)
    return batch.tokens.times(a_token).times(times * run.shape.layers / run.parallel.pp / replicas)


def exchanged(run: ModelRun, batch: SequenceBatch, times: int) -> Interval:
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
    return batch.tokens.times(of_token * times * layers / ranks).over(run.own_link(ep * run.parallel.tp))
