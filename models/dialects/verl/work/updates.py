"""Mini batches of an update on each rank, and micro batches in them; numbers of the asynchronous trainers; batches of fine-tuning.

Source: verl, verl/workers/fsdp_workers.py (ActorRolloutRefWorker and CriticWorker, "normalize config"), megatron_workers.py,
engine_workers.py (train_mini_batch), verl/workers/actor/megatron_actor.py (make_minibatch_iterator);
experimental/fully_async_policy/fully_async_rollouter.py (__init__); trainer/fsdp_sft_trainer.py (_normalize_config_bsz).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Iterator

from ....configuration.settings import Amount
from ....derivation import Derivation, Figure
from ....findings.wording import are, do, with_noun
from ....text.tree import Scalar
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC, PROCESSES
from ..releases import SEQUENCE, has_new_workers
from .batches import ACTOR, EACH, MICRO, PROMPTS, samples_of_step
from .notices import FIRST_STEP, FIRST_UPDATE, IN_ROLLOUTER, IN_WORKERS
from .work import DEGREES, MODE, NUMBERS, SHARES, Work, divisors, nearest, next_to

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
        ranks, strategy = work.data_parallel(name), work.is_trained_by(owner)
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
        new = has_new_workers(work.settings, work.setup.entry)
        if new is False:
            _rounded(work, update, again)
        elif new and not again:
            _exact(work, update)
        virtual = (
            work.amount(f"{update.owner}.megatron.virtual_pipeline_model_parallel_size", NUMBERS) if update.strategy == "megatron" else None
        )
        if virtual and virtual.value > 1:
            work.setup.notes.unsure(NUMBERS, update.name, "how many micro batches the virtual pipeline stages get depends on the samples")


def _exact(work: Work, update: Update) -> None:
    """The workers of the model engine refuse what does not come out even (engine_workers.py, train_mini_batch)."""
    if left := update.samples % update.ranks:
        message = f"{_said(work, update)} {do(update.samples)} not divide among the {update.ranks} data parallel ranks: {left} {are(left)} left over"
        at, help_ = update.mini.span or update.each.span, work.set(update.mini, *_even(update))
        work.tell(SHARES, update.name, message, at, help_, None, "", FIRST_UPDATE)


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


def derive_batches(work: Work) -> None:
    """The chain of every component that is trained."""
    prompts, each = work.amount(PROMPTS, SHARES, least=0), work.amount(EACH, SHARES)
    for update in updates_of(work):
        if prompts and prompts.value and each:
            formula = _of_prompts(prompts.value, each.value)
            _add(work, update, "samples per step", prompts.value * each.value, formula, prompts.figure, each.figure)
        _of_update(work, update)


def _of_prompts(prompts: int, each: int) -> str:
    return f"{with_noun(prompts, 'prompt')} x {with_noun(each, 'sample')} of each"


def _of_update(work: Work, update: Update) -> None:
    mini, each = update.mini, update.each
    _add(work, update, "samples per update", update.samples, _of_prompts(mini.value, each.value), mini.figure, each.figure)
    _add(
        work,
        update,
        "samples per rank and update",
        update.mine,
        f"{update.samples} // {with_noun(update.ranks, 'data parallel rank')}",
        mini.figure,
        each.figure,
    )
    dynamic = work.settings.flag(f"{update.owner}.use_dynamic_bsz", NUMBERS)
    micro = work.amount(f"{update.owner}.ppo_micro_batch_size_per_gpu", NUMBERS) if dynamic is False else None
    if micro:
        formula = f"{with_noun(update.mine, 'sample')} // {micro.value} a micro batch"
        _add(work, update, "micro batches per update", update.mine // micro.value, formula, micro.figure)


def _add(work: Work, update: Update, name: str, value: int, formula: str, *figures: Figure) -> None:
    work.setup.derivations.append(Derivation(update.name, name, value, formula, figures))


EXACT = (("data.train_batch_size", 0), ("data.gen_batch_size", 1))
LOGGED = "actor_rollout_ref.rollout.calculate_log_probs"
LEAST = (("async_training.staleness_threshold", 0), ("async_training.trigger_parameter_sync_step", 1))


def judge_streams(work: Work) -> None:
    """A fully asynchronous job takes its samples one by one."""
    if work.setup.entry.program != FULLY_ASYNC.program:
        return
    _shares(work)
    for key, wanted in EXACT:
        amount = work.amount(key, NUMBERS, least=-(10**9))
        if amount and amount.span is None and amount.value != wanted and not work.is_whole:
            work.setup.notes.unsure(NUMBERS, "rollout", f"`{key}` is not in this file; the command line may set it")
        elif amount and amount.value != wanted:
            message = f"the fully asynchronous trainer demands `{key}` {wanted}, but it is {amount.value}"
            message += " (its default)" if amount.span is None else ""
            work.tell(
                NUMBERS, "rollout", message, amount.span, work.set(amount, wanted), amount.becomes(wanted), f"not {wanted}", IN_ROLLOUTER
            )
    if work.is_whole and work.settings.flag(LOGGED, NUMBERS) is False:
        message = f"`{LOGGED}` is not set, but the fully asynchronous trainer asserts it"
        help_, edit = f"set {work.settings.assigned(LOGGED, True)}", work.settings.becomes(LOGGED, "True")
        work.tell(MODE, "rollout", message, work.settings.place(LOGGED), help_, edit, "", IN_ROLLOUTER)
    for key, least in LEAST:
        value = work.settings.at(key)
        number = value.value if isinstance(value, Scalar) else None
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number < least:
            message = f"`{key}` is {number}, but the fully asynchronous trainer demands at least {least}"
            help_ = f"set {work.settings.assigned(key, least)}"
            work.tell(
                NUMBERS,
                "rollout",
                message,
                work.settings.place(key),
                help_,
                work.settings.becomes(key, str(least)),
                "too small",
                IN_ROLLOUTER,
            )


def _shares(work: Work) -> None:
    """The samples of as many mini batches as a step needs go to the ranks in equal parts."""
    drawn, mini, each = samples_of_step(work), work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
    for name in ("actor", "critic"):
        ranks = work.data_parallel(name) if work.setup.component(name) else None
        if drawn and mini and each and ranks and drawn % ranks:
            message = f"the {with_noun(drawn, 'sample')} of a step ({work.said(mini)} x `async_training.require_batches` x {work.said(each)}) {do(drawn)} not divide "
            message += f"among the {ranks} data parallel ranks of {name}: {drawn % ranks} {are(drawn % ranks)} left over"
            better = nearest(mini.value, ranks // gcd(ranks, drawn // mini.value))
            edit = mini.becomes(min(better, key=lambda value: abs(value - mini.value)))
            work.tell(SHARES, name, message, mini.span or each.span, work.set(mini, *better), edit, "", FIRST_STEP)
            return


def judge_ranks_of_tuning(work: Work) -> None:
    """Sequence parallel ranks divide the world."""
    ranks, sequence = _ranks(work), work.amount(SEQUENCE, DEGREES) if _is_tuning(work) else None
    if ranks and sequence and ranks % sequence.value:
        message = f"the {with_noun(ranks, 'process')} cannot be divided into {sequence.value} sequence parallel ranks: {ranks % sequence.value} would be left"
        better = next_to(sequence.value, divisors(ranks))
        work.tell(DEGREES, "actor", message, sequence.span, work.set(sequence, *better), None, with_noun(ranks, "process"), IN_WORKERS)


def judge_tuning(work: Work) -> None:
    """The batch divides among the data parallel ranks, and the part of a rank into micro batches."""
    ranks = _ranks(work)
    if not _is_tuning(work) or not ranks:
        return
    batch, micro, sequence = (work.amount(key, SHARES) for key in ("data.train_batch_size", "data.micro_batch_size_per_gpu", SEQUENCE))
    parts = sequence.value if sequence else 1
    if not batch or ranks % parts:
        return
    ranks //= parts
    if batch.value % ranks:
        message = f"{work.said(batch)} does not divide among {ranks} data parallel ranks: {batch.value % ranks} would be left"
        better = nearest(batch.value, ranks)
        close = min(better, key=lambda value: abs(value - batch.value))
        work.tell(SHARES, "actor", message, batch.span, work.set(batch, *better), batch.becomes(close), "", IN_WORKERS)
    elif micro and batch.value // ranks % micro.value:
        mine = batch.value // ranks
        message = f"the {with_noun(mine, 'sample')} of a rank ({batch.value} // {ranks}) {are(mine)} no multiple of {work.said(micro)}"
        better = next_to(micro.value, divisors(mine))
        close = min(better, key=lambda value: abs(value - micro.value))
        work.tell(NUMBERS, "actor", message, micro.span, work.set(micro, *better), micro.becomes(close), "", IN_WORKERS)


def _is_tuning(work: Work) -> bool:
    return work.setup.entry.program == PROCESSES.program


def _ranks(work: Work) -> int | None:
    return work.setup.world_size("actor")
