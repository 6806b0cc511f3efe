"""Mini batches and micro batches of ranks, asynchronous trainers, and fine-tuning batches.

Source: verl, verl/workers/fsdp_workers.py (ActorRolloutRefWorker and CriticWorker, "normalize
config"), megatron_workers.py, engine_workers.py (train_mini_batch),
verl/workers/actor/megatron_actor.py (make_minibatch_iterator);
experimental/fully_async_policy/fully_async_rollouter.py (__init__); trainer/fsdp_sft_trainer.py
(_normalize_config_bsz).
"""

from __future__ import annotations

from math import gcd, lcm
from typing import Iterator

from ....configuration.settings import Amount
from ....derivation import Derivation, Figure
from ....findings.finding import Severity
from ....findings.wording import are, with_noun
from ....record import dataclass
from ....releases.release import Range
from ...checks import AMONG, MULTIPLE, AtLeast, Number, divisors, find_near, multiples_near
from ..degrees import TUNES
from ..programs import ENGINE_PROCESSES, FULLY_ASYNC, PROCESSES, TRAINERS
from .batches import EACH, FITTED, INFERRED, MICRO, PROMPTS, samples_of_step
from .engines import STEPS
from .work import ACTOR, MODE, NUMBERS, REFERENCE, ROLLOUT, SHARES, VerlWork

NEW = "verl, verl/workers/engine_workers.py (train_mini_batch)"
CUT = "verl, verl/workers/engine/utils.py (prepare_micro_batches)"
OLD = "verl, verl/workers/fsdp_workers.py, megatron_workers.py (normalize config)"
STREAM = "verl, experimental/fully_async_policy/fully_async_rollouter.py (__init__)"
ENGINE = "verl, verl/trainer/sft_trainer.py (_build_dataloader)"
TUNING = "verl, verl/trainer/fsdp_sft_trainer.py (_normalize_config_bsz)"


@dataclass(frozen=True)
class Update:
    """Mini batch of `mini` prompts x `per_prompt` samples on `ranks` data parallel ranks."""

    name: str
    owner: str
    strategy: str
    mini: Amount
    per_prompt: Amount
    ranks: int

    @property
    def samples(self) -> int:
        """Samples of all ranks."""
        return self.mini.value * self.per_prompt.value

    @property
    def share(self) -> int:
        """Samples per rank, rounded down."""
        return self.samples // self.ranks

    def number(self, work: VerlWork) -> Number:
        """Return the samples as a number of a check."""
        return work.samples(self.samples, " of a mini batch", self.mini, self.per_prompt)

    def even(self, micro: int = 1) -> list[int]:
        """Return the next mini batch sizes that divide evenly, into micro batches too."""
        step = self.ranks * micro
        return multiples_near(self.mini.value, step // gcd(step, self.per_prompt.value))


def updates_of(work: VerlWork) -> Iterator[Update]:
    """Yield the known updates of actor and critic."""
    for name, owner in (("actor", ACTOR), ("critic", "critic")) if work.entry.kind in TRAINERS else ():
        ranks, strategy = work.data_parallel(name), work.is_trained_by(owner)
        if ranks and strategy:
            mini, per_prompt = work.amount(f"{owner}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
            if mini and per_prompt:
                yield Update(name, owner, strategy, mini, per_prompt, ranks)


def judge_updates(work: VerlWork) -> None:
    """Check that mini batches divide among ranks, and a rank's part into micro batches."""
    judged_updates: set[tuple[str, int]] = set()
    for update in updates_of(work):
        new = work.settings.has_new_workers(update.name)
        is_duplicate = (update.mini.name, update.ranks) in judged_updates  # two roles with one mini batch
        judged_updates.add((update.mini.name, update.ranks))
        if new is False:
            _check_rounded(work, update, is_duplicate)
        elif new and not is_duplicate:  # the workers of the model engine refuse uneven numbers
            right = Number(update.ranks, f"the {update.ranks} data parallel ranks")
            is_static = update.name == "actor" and work.settings.flag(f"{ACTOR}.{FITTED}", NUMBERS) is False
            micro = work.amount(f"{ACTOR}.{MICRO}_per_gpu", NUMBERS) if is_static else None
            better = update.even(micro.value if micro else 1)
            work.divides(update.name, SHARES, update.number(work), right, "FIRST_UPDATE", better, AMONG, edits=False, source=NEW)
            if work.settings.pads is False and work.entry.program != FULLY_ASYNC and update.samples % update.ranks == 0:
                _check_step(work, update, NEW)
        if new and update.name == "actor":  # the critic's engine always fits batches to the tokens
            _check_fixed(work, update)
        key = f"{update.owner}.megatron.virtual_pipeline_model_parallel_size"
        virtual = work.amount(key, NUMBERS) if update.strategy == "megatron" else None
        if virtual and virtual.value > 1:
            work.notes.unsure(NUMBERS, update.name, "how many micro batches the virtual pipeline stages get depends on the samples")


def _check_fixed(work: VerlWork, update: Update) -> None:
    """Check that micro batches of a fixed size fill a rank's mini batch and step."""
    dynamic_key, has_own_trainer = f"{ACTOR}.{FITTED}", work.entry.own_trainer or work.entry.program == FULLY_ASYNC
    if not work.is_said(f"{ACTOR}.strategy") and work.settings.at(f"{ACTOR}.megatron") is not None:
        return  # its strategy, and so its ranks, are a guess
    if update.samples % update.ranks == 0:
        check_micro_batches(work, "actor", update.share, f"{ACTOR}.{MICRO}_per_gpu", dynamic_key, "FIRST_UPDATE")
    samples = None if has_own_trainer else _step(work, update)
    if not samples:
        return
    if samples % update.ranks == 0 and not work.settings.flag("algorithm.rollout_correction.bypass_mode", NUMBERS):
        check_micro_batches(work, "rollout", samples // update.ranks, f"{ROLLOUT}.{INFERRED}_per_gpu", dynamic_key, "FIRST_STEP")
    ranks = work.data_parallel("ref") if work.setup.component("ref") else None
    if ranks and samples % ranks == 0:
        dynamic_key = f"{REFERENCE}.log_prob_{FITTED}"
        check_micro_batches(work, "ref", samples // ranks, f"{REFERENCE}.{INFERRED}_per_gpu", dynamic_key, "FIRST_STEP")


def _step(work: VerlWork, update: Update) -> int | None:
    """Return the samples of a step, padded by some trainers; None if unknown."""
    if not work.settings.pads:
        return samples_of_step(work)
    prompts = work.amount(PROMPTS, SHARES)
    steps = work.amount(STEPS, NUMBERS) if work.settings.is_apart else None
    critic = work.amount("critic.ppo_mini_batch_size", SHARES) if work.setup.component("critic") else update.mini
    if not prompts or not critic:
        return None
    multiple = lcm(update.ranks, update.samples, critic.value * update.per_prompt.value)
    return -(-prompts.value // (steps.value if steps else 1) * update.per_prompt.value // multiple) * multiple


def check_micro_batches(work: VerlWork, name: str, share: int, key: str, dynamic_key: str, when: str) -> None:
    """Check that micro batches fill the samples of a rank, unless fitted to the tokens.

    Source: verl, verl/workers/engine/utils.py (prepare_micro_batches), utils/tensordict_utils.py
    (chunk_tensordict).
    """
    micro = work.amount(key, NUMBERS) if work.settings.flag(dynamic_key, NUMBERS) is False else None
    if micro:
        chunks = share // micro.value  # 0.7.0 cuts as many equal pieces, of whatever size
        left, better = Number(share, f"the {with_noun(share, 'sample')} of a rank of {name}"), find_near(micro.value, divisors(share))
        right, releases = Number(micro.value, work.short_text(micro), micro), Range("0.7.0" if not chunks or share % chunks else "0.7.1")
        work.divides(name, NUMBERS, left, right, when, better, MULTIPLE, change="right", source=CUT, releases=releases)


def _check_rounded(work: VerlWork, update: Update, is_duplicate: bool) -> None:
    """Check updates of the old workers, which round down and refuse only empty shares."""
    name, fsdp, left = update.name, update.strategy == "fsdp", update.number(work)
    right = work.ranks(name, update.ranks)
    if not update.share and not is_duplicate:
        is_early = name == "actor" or work.settings.is_set(f"{update.owner}.{MICRO}_per_gpu", NUMBERS)
        when, message = "IN_WORKERS" if fsdp and is_early else "FIRST_UPDATE", f"{{left}} {are(update.samples)} fewer than {{right}}"
        work.check(name, AtLeast(code=SHARES, source=OLD, left=left, right=right, suggest=update.even(), message=message, when=when))
    if not update.share:
        return
    if not is_duplicate:
        note = f"verl rounds down without a word: each rank takes {with_noun(update.share, 'sample')}"
        note += "; the samples that are left make a further, smaller update" * fsdp
        work.divides(name, SHARES, left, right, note, update.even(), AMONG, edits=False, source=OLD, severity=Severity.WARNING)
    if fsdp:
        _micro(work, update)
    elif update.strategy == "megatron":
        _check_megatron(work, update)


def _micro(work: VerlWork, update: Update) -> None:
    """Check that micro batches fill a mini batch, as FSDP asserts."""
    total, per_gpu = (work.amount(f"{update.owner}.{MICRO}{ending}", NUMBERS) for ending in ("", "_per_gpu"))
    micro = total or per_gpu
    if micro is None:
        return
    size, factor = (total.value // update.ranks, update.ranks) if total else (micro.value, 1)
    better = find_near(micro.value, [divisor * factor for divisor in divisors(update.share)])
    share = f"the {with_noun(update.share, 'sample')} that a rank of {update.name} takes"
    size_text = f"{size}, its part of {work.short_text(micro)}" if total else work.short_text(micro)
    note = f"{with_noun(update.share, 'sample')} of a rank: {update.samples} // {update.ranks}"
    if size:
        left, right = Number(update.share, share, note=note), Number(size, size_text, micro)
        work.divides(update.name, NUMBERS, left, right, "IN_WORKERS", better, MULTIPLE, change="right", edits=not total, source=OLD)
    # Otherwise the first check reports it.
    elif work.settings.flag(f"{update.owner}.{FITTED}", NUMBERS) or not work.is_checked_at_start:
        message = f"{share} {are(update.share)} not a multiple of {size_text}"
        work.report(NUMBERS, update.name, message, micro.span, work.set(micro, *better), None, "", note, "IN_WORKERS")


def _check_megatron(work: VerlWork, update: Update) -> None:
    """Check the sizes that Megatron's workers divide and assert."""
    micro, log_prob_key, settings = work.amount(f"{update.owner}.{MICRO}", NUMBERS), f"{ROLLOUT}.{INFERRED}", work.settings
    # With the deprecated size of the actor they divide that of rollout too.
    old_size = micro if update.name == "actor" and work.is_whole else None
    if old_size and not settings.is_open(log_prob_key, NUMBERS) and not settings.is_set(log_prob_key, NUMBERS):
        message = f"`{old_size.name}` is set, but `{log_prob_key.removeprefix('actor_rollout_ref.')}` is not"
        help_ = f"set {work.spell(f'{old_size.name}_per_gpu', 1)}, or more, in its place"
        work.report(MODE, update.name, message, old_size.span, help_, None, "deprecated", "Megatron divides both and fails", "IN_WORKERS")
    _check_step(work, update, OLD)


def _check_step(work: VerlWork, update: Update, source: str) -> None:
    """Check that mini batches fill a rank's samples of a step: an assertion of the workers."""
    samples = samples_of_step(work)
    if samples is None or samples % update.ranks:
        return
    share = samples // update.ranks
    fitting = [divisor for divisor in divisors(samples // update.per_prompt.value) if divisor * update.per_prompt.value % update.ranks == 0]
    better = find_near(update.mini.value, fitting)
    note = f"{with_noun(share, 'sample')} of a rank: {samples} // {update.ranks}"
    left = Number(share, f"the {with_noun(share, 'sample')} that a rank of {update.name} gets in a step", note=note)
    right = Number(update.share, f"the {update.share} of its mini batch", update.mini, update.number(work).note)
    work.divides(update.name, NUMBERS, left, right, "FIRST_UPDATE", better, MULTIPLE, change="right", edits=bool(better), source=source)


def derive_batches(work: VerlWork) -> None:
    """Add the derivations of every trained component."""
    prompts, per_prompt = work.amount(PROMPTS, SHARES, minimum=0), work.amount(EACH, SHARES)
    for update in updates_of(work):
        per_prompt_text = f" x {with_noun(update.per_prompt.value, 'sample')} of each"
        is_static = work.settings.flag(f"{update.owner}.{FITTED}", NUMBERS) is False
        micro = work.amount(f"{update.owner}.{MICRO}_per_gpu", NUMBERS) if is_static else None
        rows, figures = list[tuple[str, int, str, tuple[Figure, ...]]](), (update.mini.figure, update.per_prompt.figure)
        if prompts and prompts.value and per_prompt:
            samples, of_step = prompts.value * per_prompt.value, (prompts.figure, per_prompt.figure)
            rows.append(("samples per step", samples, with_noun(prompts.value, "prompt") + per_prompt_text, of_step))
        rows.append(("samples per update", update.samples, with_noun(update.mini.value, "prompt") + per_prompt_text, figures))
        formula = f"{update.samples} // {with_noun(update.ranks, 'data parallel rank')}"
        rows.append(("samples per rank and update", update.share, formula, figures))
        if micro:
            formula = f"{with_noun(update.share, 'sample')} // {micro.value} a micro batch"
            rows.append(("micro batches per update", update.share // micro.value, formula, (micro.figure,)))
        work.setup.derivations += [Derivation(update.name, *row) for row in rows]


def judge_streams(work: VerlWork) -> None:
    """Check that the samples of a fully asynchronous step divide among the ranks."""
    if work.entry.program != FULLY_ASYNC:
        return
    samples, mini, per_prompt = samples_of_step(work), work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount(EACH, SHARES)
    for name in ("actor", "critic"):
        ranks = work.data_parallel(name) if work.setup.component(name) else None
        if samples and mini and per_prompt and ranks and samples % ranks:
            noun = with_noun(samples, "sample")
            note = f"{noun}: {work.text(mini)} x `async_training.require_batches` x {work.text(per_prompt)}"
            better = multiples_near(mini.value, ranks // gcd(ranks, samples // mini.value))
            left = Number(samples, f"the {noun} of a step", mini, note)
            work.divides(name, SHARES, left, work.ranks(name, ranks), "FIRST_STEP", better, AMONG, source=STREAM)
            return


def judge_tuning(work: VerlWork) -> None:
    """Check that a fine-tuning batch divides among ranks, and a rank's part into micro batches."""
    ranks = work.data_parallel("actor") if work.entry.kind in TUNES else None
    batch = work.amount("data.train_batch_size", SHARES) if ranks else None
    if not ranks or not batch:
        return
    share, program, right = batch.value // ranks, work.entry.program, Number(ranks, f"{ranks} data parallel ranks")
    message, micro = "{left} does not divide among {right}", "data.micro_batch_size_per_gpu"
    even, rounds = batch.value % ranks == 0, program == ENGINE_PROCESSES
    is_dynamic = program != PROCESSES and work.settings.flag("data.use_dynamic_bsz", NUMBERS) is not False
    size = None if is_dynamic else work.amount(micro, NUMBERS)
    better = multiples_near(batch.value, ranks * size.value if size else ranks)
    if rounds and not share:
        message, why = "{left} is less than {right}", "a batch of 0 samples is refused"
        check = AtLeast(code=SHARES, source=ENGINE, left=batch, right=right, suggest=better, message=message, why=why, when="IN_WORKERS")
        work.check("actor", check)
    elif rounds:
        when, severity = f"verl rounds down without a word: each rank takes {with_noun(share, 'sample')}", Severity.WARNING
        work.divides("actor", SHARES, batch, right, when, better, message, edits=False, source=ENGINE, severity=severity)
    else:
        when = "IN_WORKERS" if program == PROCESSES else "FIRST_STEP"
        work.divides("actor", SHARES, batch, right, when, better, message, source=TUNING)
    if program != PROCESSES and share and (rounds or even):
        check_micro_batches(work, "actor", share, micro, "data.use_dynamic_bsz", "FIRST_STEP")
    elif even:
        left = Number(share, f"the {with_noun(share, 'sample')} of a rank ({batch.value} // {ranks})")
        work.divides("actor", NUMBERS, left, micro, "IN_WORKERS", (), MULTIPLE, change="right", source=TUNING)
