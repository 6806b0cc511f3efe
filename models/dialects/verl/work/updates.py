"""The mini batches of an update on each rank, and the micro batches in them.

Source: verl, verl/workers/fsdp_workers.py (ActorRolloutRefWorker and CriticWorker, "normalize config"), megatron_workers.py;
verl/workers/engine_workers.py (train_mini_batch), verl/workers/actor/megatron_actor.py (make_minibatch_iterator).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from ....configuration.settings import Amount
from ..entries import Kind
from .batches import ACTOR, EACH
from .notices import FIRST_UPDATE, IN_WORKERS
from .ranks import data_parallel
from .work import NEW_WORKERS, NUMBERS, SHARES, Work, divisors, nearest, next_to, plural

TRAINERS = (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT)


@dataclass(frozen=True)
class Update:
    """One mini batch of a component: `mini` prompts with `each` samples, on `ranks` data parallel ranks."""

    name: str
    owner: str
    strategy: str
    mini: Amount
    each: Amount
    ranks: int

    @property
    def samples(self) -> int:
        """Samples of all ranks."""
        return self.mini.value * self.each.value

    @property
    def mine(self) -> int:
        """Samples of one rank; what does not come out even is left off."""
        return self.samples // self.ranks


def updates_of(work: Work) -> Iterator[Update]:
    """Those of actor and critic, as far as they are known."""
    for name, owner in (("actor", ACTOR), ("critic", "critic")) if work.setup.entry.kind in TRAINERS else ():
        ranks, strategy = data_parallel(work, name), work.is_trained_by(owner)
        if ranks and strategy:
            mini, each = work.amount(f"{owner}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
            if mini and each:
                yield Update(name, owner, strategy, mini, each, ranks)


def judge_updates(work: Work) -> None:
    """The mini batch divides among the ranks, and the part of a rank into micro batches."""
    for update in updates_of(work):
        if work.settings.word(NEW_WORKERS, SHARES) == "disable":
            _exact(work, update)
        else:
            _rounded(work, update)
        virtual = (
            work.amount(f"{update.owner}.megatron.virtual_pipeline_model_parallel_size", NUMBERS) if update.strategy == "megatron" else None
        )
        if virtual and virtual.value > 1:
            work.setup.notes.unsure(NUMBERS, update.name, "how many micro batches the virtual pipeline stages get depends on the samples")


def _exact(work: Work, update: Update) -> None:
    """The new workers refuse what does not come out even."""
    if left := update.samples % update.ranks:
        work.tell(
            SHARES, update.name, f"{_said(work, update)} do not divide among the {update.ranks} data parallel ranks: {left} are left over",
            update.mini.span or update.each.span, work.set(update.mini, *_even(update)), None, "", FIRST_UPDATE,
        )  # fmt: skip


def _rounded(work: Work, update: Update) -> None:
    """The other workers round down, and refuse only nothing at all."""
    if not update.mine:
        message = f"{_said(work, update)} are fewer than the {update.ranks} data parallel ranks of {update.name}"
        fitting = _even(update)
        proved = update.strategy == "fsdp" and update.name == "actor"
        help_ = work.set(update.mini, *fitting)
        work.tell(
            SHARES, update.name, message, update.mini.span, help_, update.mini.becomes(fitting[0]), "too few", IN_WORKERS, proved=proved
        )
        return
    if left := update.samples % update.ranks:
        message = (
            f"{_said(work, update)} do not divide among the {update.ranks} data parallel ranks of {update.name}: each takes {update.mine},"
        )
        message += f" {left} fewer in all than the mini batch says"
        note = "verl rounds down without a word; the samples that are left make a further, smaller update"
        work.tell(SHARES, update.name, message, update.mini.span, work.set(update.mini, *_even(update)), None, "", note, proved=False)
    _micro(work, update)


def _micro(work: Work, update: Update) -> None:
    micro = work.amount(f"{update.owner}.ppo_micro_batch_size_per_gpu", NUMBERS)
    if micro is None:
        return
    if update.mine % micro.value and update.strategy == "fsdp":
        message = f"the {update.mine} samples that a rank of {update.name} takes ({update.samples} // {update.ranks}) are no multiple of "
        message += f"{work.said(micro)}: {update.mine % micro.value} would be left"
        better = next_to(micro.value, divisors(update.mine))
        close = min(better, key=lambda value: abs(value - micro.value))
        work.tell(NUMBERS, update.name, message, micro.span, work.set(micro, *better), micro.becomes(close), "", IN_WORKERS)


def _said(work: Work, update: Update) -> str:
    return f"{update.samples} {plural('sample', update.samples)} of a mini batch ({work.said(update.mini)} x {work.said(update.each)})"


def _even(update: Update) -> list[int]:
    """Sizes of mini batches next to this one that come out even."""
    step = next(size for size in range(1, update.ranks + 1) if size * update.each.value % update.ranks == 0)
    return nearest(update.mini.value, step)
