"""The mini batches of an update on each rank, and the micro batches in them.

Source: verl, verl/workers/fsdp_workers.py (ActorRolloutRefWorker and CriticWorker, "normalize config"), megatron_workers.py;
verl/workers/engine_workers.py (train_mini_batch), verl/workers/actor/megatron_actor.py (make_minibatch_iterator).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from .....configuration.settings import Amount
from .....findings.wording import are, do, with_noun
from ...entries import Kind
from ..notices import FIRST_UPDATE, IN_WORKERS
from ..ranks import data_parallel
from ..work import MODE, NEW_WORKERS, NUMBERS, SHARES, Work, divisors, nearest, next_to
from .batches import ACTOR, EACH, samples_of_step

MICRO = "ppo_micro_batch_size"
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
    told: set[tuple[str, int]] = set()
    for update in updates_of(work):
        again = (update.mini.name, update.ranks) in told  # two roles with one mini batch
        told.add((update.mini.name, update.ranks))
        if work.settings.word(NEW_WORKERS, SHARES) != "disable":
            _rounded(work, update, again)
        elif not again:
            _exact(work, update)
        virtual = (
            work.amount(f"{update.owner}.megatron.virtual_pipeline_model_parallel_size", NUMBERS) if update.strategy == "megatron" else None
        )
        if virtual and virtual.value > 1:
            work.setup.notes.unsure(NUMBERS, update.name, "how many micro batches the virtual pipeline stages get depends on the samples")


def _exact(work: Work, update: Update) -> None:
    """The new workers refuse what does not come out even."""
    if left := update.samples % update.ranks:
        work.tell(
            SHARES, update.name, f"{_said(work, update)} {do(update.samples)} not divide among the {update.ranks} data parallel ranks: {left} {are(left)} left over",
            update.mini.span or update.each.span, work.set(update.mini, *_even(update)), None, "", FIRST_UPDATE,
        )  # fmt: skip


def _rounded(work: Work, update: Update, again: bool) -> None:
    """The other workers round down, and refuse only nothing at all."""
    fitting = _even(update)
    if not update.mine and again:
        return
    if not update.mine:
        message = f"{_said(work, update)} {are(update.samples)} fewer than the {update.ranks} data parallel ranks of {update.name}"
        counted = update.name == "actor" or work.settings.said(f"{update.owner}.{MICRO}_per_gpu", NUMBERS)
        when, edit = IN_WORKERS if update.strategy == "fsdp" and counted else FIRST_UPDATE, update.mini.becomes(fitting[0])
        work.tell(SHARES, update.name, message, update.mini.span, work.set(update.mini, *fitting), edit, "too few", when)
        return
    if (left := update.samples % update.ranks) and not again:
        message = f"{_said(work, update)} {do(update.samples)} not divide among the {update.ranks} data parallel ranks of {update.name}: each takes {update.mine},"
        message += f" {left} fewer in all than the mini batch says"
        note = "verl rounds down without a word; the samples that are left make a further, smaller update"
        note = note if update.strategy == "fsdp" else "verl rounds down without a word"
        work.tell(SHARES, update.name, message, update.mini.span, work.set(update.mini, *fitting), None, "", note, proved=False)
    if update.strategy == "fsdp":
        _micro(work, update)
    elif update.strategy == "megatron":
        _deprecated(work, update)
        _whole(work, update)


def _micro(work: Work, update: Update) -> None:
    """FSDP asserts that micro batches fill a mini batch. The deprecated size of all ranks is divided among them, rounded down."""
    every, own = (work.amount(f"{update.owner}.{MICRO}{ending}", NUMBERS) for ending in ("", "_per_gpu"))
    micro = every or own
    if micro is None:
        return
    size = every.value // update.ranks if every else micro.value
    dynamic = work.settings.flag(f"{update.owner}.use_dynamic_bsz", NUMBERS)
    if (size and update.mine % size == 0) or (not size and work.is_checked_at_start and not dynamic):
        return  # that it is too small for all ranks is said by the first check
    message = f"the {with_noun(update.mine, 'sample')} that a rank of {update.name} takes ({update.samples} // {update.ranks}) {are(update.mine)} no multiple of "
    message += f"{work.said(micro)}" if not every else f"{size}, its part of {work.said(micro)}"
    message += f": {update.mine % size} would be left" if size else ""
    factor = update.ranks if every else 1
    better = next_to(micro.value, [each * factor for each in divisors(update.mine)])
    close = min(better, key=lambda value: abs(value - micro.value))
    work.tell(NUMBERS, update.name, message, micro.span, work.set(micro, *better), None if every else micro.becomes(close), "", IN_WORKERS)


def _deprecated(work: Work, update: Update) -> None:
    """With the deprecated size of the actor, Megatron's workers divide that of rollout too."""
    micro, other = work.amount(f"{update.owner}.{MICRO}", NUMBERS), "actor_rollout_ref.rollout.log_prob_micro_batch_size"
    if (
        micro
        and update.name == "actor"
        and work.is_whole
        and not work.settings.is_open(other, NUMBERS)
        and not work.settings.said(other, NUMBERS)
    ):
        message = f"`{micro.name}` is set and `{other}` is not; Megatron's workers divide both among the ranks, and raise a TypeError"
        help_ = f"set {work.settings.assigned(f'{micro.name}_per_gpu', 1)}, or more, in its place"
        work.tell(MODE, update.name, message, micro.span, help_, None, "deprecated", IN_WORKERS)


def _whole(work: Work, update: Update) -> None:
    """Megatron's workers assert that mini batches fill the samples that a rank gets in a step."""
    drawn = samples_of_step(work)
    if drawn is None or drawn % update.ranks or (drawn // update.ranks) % update.mine == 0:
        return
    mine = drawn // update.ranks
    message = f"the {with_noun(mine, 'sample')} that a rank of {update.name} gets in a step ({drawn} // {update.ranks}) {are(mine)} no multiple of the {update.mine} "
    message += f"of its mini batch ({_said(work, update)}): {mine % update.mine} would be left"
    better = next_to(
        update.mini.value, [each for each in divisors(drawn // update.each.value) if each * update.each.value % update.ranks == 0]
    )
    edit = update.mini.becomes(min(better, key=lambda value: abs(value - update.mini.value))) if better else None
    help_ = work.set(update.mini, *better) if better else f"make the samples of a step a multiple of {update.mine * update.ranks}"
    work.tell(NUMBERS, update.name, message, update.mini.span, help_, edit, "", FIRST_UPDATE)


def _said(work: Work, update: Update) -> str:
    return f"{with_noun(update.samples, 'sample')} of a mini batch ({work.said(update.mini)} x {work.said(update.each)})"


def _even(update: Update) -> list[int]:
    """Sizes of mini batches next to this one that come out even."""
    step = next(size for size in range(1, update.ranks + 1) if size * update.each.value % update.ranks == 0)
    return nearest(update.mini.value, step)
