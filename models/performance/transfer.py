"""Time of weights on their way: to the engines, to the host and back."""

from __future__ import annotations

from .hardware import GIGA
from .interval import Interval, exactly
from .model_run import HALF, ModelRun


def sync_seconds(trainer: ModelRun, engine: ModelRun) -> Interval:
    """Return the seconds in which the engines get the trained weights.

    Over the link that joins them, and tensor by tensor. At the least each rank receives the part of its engine (HybridFlow, arXiv 2409.19256, section 5.3);
    most trainers gather each tensor whole on every rank, and the engine cuts its part out: verl,
    verl/workers/fsdp_workers.py (rollout_mode); NeMo-RL, nemo_rl/models/policy (refit). At the most
    each rank has its own adapter's share alone.
    """
    whole, link = engine.shape.total * HALF, trainer.link(trainer.accelerators)
    slowest = exactly(whole).over(trainer.own_link(trainer.accelerators)).high
    quick = Interval(whole / (engine.parallel.tp * engine.parallel.pp), whole, whole).over(link)
    tensor_overhead = trainer.efficiency.tensor.times(trainer.shape.tensors)
    return Interval(quick.low, quick.likely, max(quick.high, slowest)).plus(tensor_overhead)


def offload_seconds(run: ModelRun, bytes_each: float) -> Interval:
    """Return the seconds of moving bytes of each accelerator to its host, or back."""
    return exactly(bytes_each).over(run.efficiency.host.times(run.speed.host * GIGA / 2))
