"""Time of training: forward and backward passes, communication, bubble, optimizer."""

from __future__ import annotations

from ..estimate import DISTRIBUTED, FSDP, FULL, ZERO3
from ..record import dataclass
from .hardware import TERA
from .infer import compute_stage_factor, time_communication, time_launches
from .interval import Interval, exactly
from .model_run import HALF, ModelRun, SequenceBatch


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained.

    Attributes
    ----------
    micro_batch : sequences of a micro batch, on average where they are packed.
    """

    sharding: str = FSDP
    recompute: str = FULL
    micro_batch: float = 1
    steps: int = 1


def train_seconds(run: ModelRun, batch: SequenceBatch, training: Training) -> Interval:
    """Return the seconds of training on the batch once.

    A backward pass is two forward passes, full recomputation one more (arXiv 2205.05198, appendix A).
    """
    passes = 4 if training.recompute == FULL else 3
    efficiency = run.efficiency.train_experts if run.shape.experts else run.efficiency.train
    seconds = run.forward(batch, efficiency, run.efficiency.train).times(passes).times(run.efficiency.imbalance)
    micro_batches = max(1.0, batch.sequences / (training.steps * run.replicas * training.micro_batch))
    seconds = seconds.plus(time_communication(run, batch, passes - 1)).plus(time_launches(run, passes * training.steps * micro_batches))
    seconds = seconds.times(compute_stage_factor(run, micro_batches))
    return seconds.plus(_of_weights(run, training, micro_batches)).plus(_of_optimizer(run, training))


def _of_weights(run: ModelRun, training: Training, micro_batches: float) -> Interval:
    """Return the seconds that gathering weights and adding gradients up takes and that nothing hides.

    ZeRO, arXiv 1910.02054, section 7: weights and gradients of a rank twice each; fully sharded weights
    are gathered for every micro batch, forward and backward.
    """
    tp, pp, experts = run.parallel.tp, run.parallel.pp, run.shape.expert_parameters
    sent_bytes, times = 0.0, 3 * micro_batches if training.sharding in (FSDP, ZERO3) else 2.0
    for numbers, division in ((run.shape.total - experts, tp), (experts, run.expert_ranks)):
        sharing = max(1, run.accelerators // (division * pp))
        sent_bytes += times * training.steps * numbers * HALF / (division * pp) * (sharing - 1) / sharing
    visible = Interval(*(1 - share for share in reversed(run.efficiency.hidden)))
    return exactly(sent_bytes).over(run.link(max(1, run.accelerators // (tp * pp)), tp)).times(visible)


def _of_optimizer(run: ModelRun, training: Training) -> Interval:
    """Return the seconds of the optimizer's steps: 32 bytes a parameter of a rank, read and written.

    AdamW reads weight, gradient and two moments of 4 bytes and writes three of them, and the copy in 16
    bits (ZeRO, arXiv 1910.02054, section 3.1).
    """
    division = run.accelerators if training.sharding in (FSDP, ZERO3, DISTRIBUTED) else run.parallel.tp * run.parallel.pp
    traffic = 32 * run.shape.total / division * training.steps
    return exactly(traffic).over(run.efficiency.decode.times(run.speed.bandwidth * TERA))
