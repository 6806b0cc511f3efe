"""Time of training: forward and backward passes, communication, bubble, optimizer."""

from __future__ import annotations

from ..estimate import DISTRIBUTED, FSDP, FULL, MEGATRON, ZERO3
from ..record import dataclass
from .hardware import TERA
from .infer import exchanged, reduced
from .interval import Interval, exactly
from .model_run import HALF, ModelRun, SequenceBatch


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained.

    Attributes
    ----------
    sharding : one of `SHARDINGS`.
    recompute : one of `RECOMPUTED`.
    micro_batch : sequences of a micro batch.
    steps : optimizer steps of an iteration.
    """

    sharding: str = FSDP
    recompute: str = FULL
    micro_batch: int = 1
    steps: int = 1


def train_seconds(run: ModelRun, batch: SequenceBatch, training: Training) -> Interval:
    """Return the seconds of training on the batch once.

    A backward pass is two forward passes, full recomputation one more (arXiv 2205.05198, appendix A).
    The pipeline's bubble is (pp - 1) / micro batches of the work (arXiv 2104.04473, section 2.2).
    """
    passes = 4 if training.recompute == FULL else 3
    reached = run.efficiency.train_experts if run.shape.experts else run.efficiency.train
    seconds = run.forward(batch).times(passes).over(reached.times(run.peak)).times(run.efficiency.imbalance)
    seconds = seconds.plus(reduced(run, batch, 2 * (passes - 1))).plus(exchanged(run, batch, 2 * (passes - 1)))
    groups = max(1.0, run.accelerators / (run.parallel.tp * run.parallel.pp * run.parallel.cp))
    micro_batches = max(1.0, batch.sequences / (training.steps * groups * training.micro_batch))
    seconds = seconds.times(1 + (run.parallel.pp - 1) / micro_batches)
    return seconds.plus(_of_weights(run, training, micro_batches)).plus(_of_optimizer(run, training))


def _of_weights(run: ModelRun, training: Training, micro_batches: float) -> Interval:
    """Return the seconds that gathering weights and adding gradients up takes and that nothing hides.

    ZeRO, arXiv 1910.02054, section 7: weights and gradients of a rank twice each; fully sharded weights
    are gathered for every micro batch, forward and backward.
    """
    ranks = run.accelerators // (run.parallel.tp * run.parallel.pp)
    if ranks < 2:
        return exactly(0.0)
    held = run.shape.total * HALF / (run.parallel.tp * run.parallel.pp * run.parallel.ep)
    times = 3 * micro_batches if training.sharding in (FSDP, ZERO3) else 2.0
    sent = times * held * (ranks - 1) / ranks * training.steps
    shown = Interval(*(1 - share for share in reversed(run.efficiency.hidden)))
    return exactly(sent).over(run.link(ranks, run.parallel.tp)).times(shown)


def _of_optimizer(run: ModelRun, training: Training) -> Interval:
    """Return the seconds of the optimizer's steps: 32 bytes a parameter of a rank, read and written.

    AdamW reads weight, gradient and two moments of 4 bytes and writes three of them, and the copy in 16
    bits (ZeRO, arXiv 1910.02054, section 3.1).
    """
    divided = run.accelerators if training.sharding in (FSDP, ZERO3, DISTRIBUTED) else run.parallel.tp * run.parallel.pp
    moved = 32 * run.shape.total / divided * training.steps
    return exactly(moved).over(run.efficiency.decode.times(run.speed.bandwidth * TERA))


BY_MEGATRON = (MEGATRON, DISTRIBUTED)
