"""Mini batches of an update on each rank, and micro batches in them; numbers of the asynchronous trainers; batches of fine-tuning.

Source: verl, verl/workers/fsdp_workers.py (ActorRolloutRefWorker and CriticWorker, "normalize config"), megatron_workers.py,
engine_workers.py (train_mini_batch), verl/workers/actor/megatron_actor.py (make_minibatch_iterator);
experimental/fully_async_policy/fully_async_rollouter.py (__init__); trainer/fsdp_sft_trainer.py (_normalize_config_bsz).
"""

from __future__ import annotations

from math import gcd
from typing import Iterator

from ....configuration.settings import Amount
from ....derivation import Derivation, Figure
from ....findings.finding import Severity
from ....findings.wording import are, do, with_noun
from ....record import dataclass
from ....text.tree import Scalar
from ...checks import AtLeast, Equals, Number, Requires
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC, PROCESSES
from ..releases import SEQUENCE, has_new_workers
from .batches import ACTOR, EACH, MICRO, PROMPTS, samples_of_step
from .notices import FIRST_STEP, FIRST_UPDATE, IN_ROLLOUTER, IN_WORKERS
from .work import DEFAULT, DEGREES, MODE, NUMBERS, SHARES, Work, divisors, given, nearest, next_to

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
    message = f"{{left}} {do(update.samples)} not divide among {{right}}"
    right = Number(update.ranks, f"the {update.ranks} data parallel ranks")
    work.divides(update.name, SHARES, _samples(work, update), right, message, FIRST_UPDATE, _even(update), edits=False, source=NEW)


def _rounded(work: Work, update: Update, again: bool) -> None:
    """The other workers round down, and refuse only nothing at all."""
    left, right = _samples(work, update), Number(update.ranks, f"the {update.ranks} data parallel ranks of {update.name}")
    if not update.mine and again:
        return
    if not update.mine:
        counted = update.name == "actor" or work.settings.said(f"{update.owner}.{MICRO}_per_gpu", NUMBERS)
        message, when = (
            f"{{left}} {are(update.samples)} fewer than {{right}}",
            IN_WORKERS if update.strategy == "fsdp" and counted else FIRST_UPDATE,
        )
        fewer = AtLeast(code=SHARES, source=OLD, left=given(left), right=given(right), suggest=_even(update), message=message, when=when)
        work.check(update.name, fewer)
        return
    if not again:
        message = f"{{left}} {do(update.samples)} not divide among {{right}}: each takes {update.mine}, {{rest}} fewer in all than the mini batch says"
        note = "verl rounds down without a word"
        note += "; the samples that are left make a further, smaller update" if update.strategy == "fsdp" else ""
        work.divides(update.name, SHARES, left, right, message, note, _even(update), edits=False, source=OLD, severity=Severity.WARNING)
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
    size, factor = (every.value // update.ranks, update.ranks) if every else (micro.value, 1)
    better = next_to(micro.value, [each * factor for each in divisors(update.mine)])
    mine = f"the {with_noun(update.mine, 'sample')} that a rank of {update.name} takes ({update.samples} // {update.ranks})"
    part = work.said(micro) if not every else f"{size}, its part of {work.said(micro)}"
    message = f"{{left}} {are(update.mine)} no multiple of {{right}}"
    dynamic = work.settings.flag(f"{update.owner}.use_dynamic_bsz", NUMBERS)
    if size:
        left, right = Number(update.mine, mine), Number(size, part, micro)
        message += ": {rest} would be left"
        work.divides(update.name, NUMBERS, left, right, message, IN_WORKERS, better, change="right", edits=not every, source=OLD)
    elif dynamic or not work.is_checked_at_start:  # else it is too small for all ranks, which the first check says
        work.tell(NUMBERS, update.name, message.format(left=mine, right=part), micro.span, work.set(micro, *better), None, "", IN_WORKERS)


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
    if drawn is None or drawn % update.ranks:
        return
    mine = drawn // update.ranks
    fitting = [each for each in divisors(drawn // update.each.value) if each * update.each.value % update.ranks == 0]
    left = Number(mine, f"the {with_noun(mine, 'sample')} that a rank of {update.name} gets in a step ({drawn} // {update.ranks})")
    right = Number(update.mine, f"the {update.mine} of its mini batch ({_said(work, update)})", update.mini)
    message = f"{{left}} {are(mine)} no multiple of {{right}}: {{rest}} would be left"
    better = next_to(update.mini.value, fitting)
    work.divides(update.name, NUMBERS, left, right, message, FIRST_UPDATE, better, change="right", edits=bool(better), source=OLD)


def _samples(work: Work, update: Update) -> Number:
    return Number(update.samples, _said(work, update), update.mini)


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


NEW = "verl, verl/workers/engine_workers.py (train_mini_batch)"
OLD = "verl, verl/workers/fsdp_workers.py, megatron_workers.py (normalize config)"
STREAM = "verl, experimental/fully_async_policy/fully_async_rollouter.py (__init__)"
TUNING = "verl, verl/trainer/fsdp_sft_trainer.py (_normalize_config_bsz)"
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
        elif amount:
            default = DEFAULT if amount.span is None else ""
            message = f"the fully asynchronous trainer demands `{key}` {wanted}, but it is {amount.value}{default}"
            left = given(work.of(amount))
            work.check("rollout", Equals(code=NUMBERS, source=STREAM, left=left, right=wanted, message=message, when=IN_ROLLOUTER))
    if work.is_whole and work.settings.flag(LOGGED, NUMBERS) is False:
        message = f"`{LOGGED}` is not set, but the fully asynchronous trainer asserts it"
        work.check("rollout", Requires(code=MODE, source=STREAM, key=LOGGED, value=True, message=message, when=IN_ROLLOUTER))
    for key, least in LEAST:
        value = work.settings.at(key)
        number = value.value if isinstance(value, Scalar) else None
        if isinstance(number, (int, float)) and not isinstance(number, bool) and number < least:  # may be a fraction
            message = f"`{key}` is {number}, but the fully asynchronous trainer demands at least {least}"
            help_, edit = f"set {work.settings.assigned(key, least)}", work.settings.becomes(key, str(least))
            work.tell(NUMBERS, "rollout", message, work.settings.place(key), help_, edit, "too small", IN_ROLLOUTER)


def _shares(work: Work) -> None:
    """The samples of as many mini batches as a step needs go to the ranks in equal parts."""
    drawn, mini, each = samples_of_step(work), work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
    for name in ("actor", "critic"):
        ranks = work.data_parallel(name) if work.setup.component(name) else None
        if drawn and mini and each and ranks and drawn % ranks:
            text = f"the {with_noun(drawn, 'sample')} of a step ({work.said(mini)} x `async_training.require_batches` x {work.said(each)})"
            left, right = Number(drawn, text, mini), Number(ranks, f"the {ranks} data parallel ranks of {name}")
            better = nearest(mini.value, ranks // gcd(ranks, drawn // mini.value))
            work.divides(name, SHARES, left, right, f"{{left}} {do(drawn)} not divide among {{right}}", FIRST_STEP, better, source=STREAM)
            return


def judge_ranks_of_tuning(work: Work) -> None:
    """Sequence parallel ranks divide the world."""
    ranks, sequence = _ranks(work), work.amount(SEQUENCE, DEGREES) if _is_tuning(work) else None
    if ranks and sequence:
        left, right = (
            Number(ranks, f"the {with_noun(ranks, 'process')}"),
            Number(sequence.value, f"{sequence.value} sequence parallel ranks", sequence),
        )
        message = "{left} cannot be divided into {right}: {rest} would be left"
        work.divides("actor", DEGREES, left, right, message, IN_WORKERS, change="right", edits=False, source=TUNING)


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
    message = "{left} does not divide among {right}: {rest} would be left"
    work.divides("actor", SHARES, work.of(batch), Number(ranks, f"{ranks} data parallel ranks"), message, IN_WORKERS, source=TUNING)
    if micro and batch.value % ranks == 0:
        mine = batch.value // ranks
        left = Number(mine, f"the {with_noun(mine, 'sample')} of a rank ({batch.value} // {ranks})")
        message = f"{{left}} {are(mine)} no multiple of {{right}}"
        work.divides("actor", NUMBERS, left, work.of(micro), message, IN_WORKERS, change="right", source=TUNING)


def _is_tuning(work: Work) -> bool:
    return work.setup.entry.program == PROCESSES.program


def _ranks(work: Work) -> int | None:
    return work.setup.world_size("actor")
