"""Batch of a step: verl's demands on sizes, and division among ranks.

Source: verl, verl/utils/config.py (validate_config), until 0.6.0 trainer/ppo/ray_trainer.py
(_validate_config); verl/workers/config/ actor.py and critic.py; verl/protocol.py (DataProto.chunk),
experimental/agent_loop/agent_loop.py (generate_sequences), verl/trainer/ppo/ray_trainer.py
(_balance_batch), verl/trainer/ppo/v1/ (upsample_batch_to_divisible_size).
"""

from __future__ import annotations

from math import gcd, lcm, prod
from typing import Iterator

from ....configuration.settings import Amount
from ....findings.wording import with_noun
from ....record import dataclass
from ....releases.release import ALWAYS, Range
from ...checks import AMONG, AtLeast, Number, multiples_near
from ..degrees import OWNERS, engine_of, is_engine
from ..programs import FULLY_ASYNC, TRAINERS, ProgramKind, facts
from .work import ACTOR, LOOPS, MODE, NUMBERS, REFERENCE, ROLLOUT, SHARES, VerlWork

PROMPTS, DRAWN, EACH = "data.train_batch_size", "data.gen_batch_size", f"{ROLLOUT}.n"
SOURCE = "verl, verl/protocol.py (DataProto.chunk)"
VALIDATED = "verl, verl/utils/config.py (validate_config)"
FITTED, MICRO, INFERRED = "use_dynamic_bsz", "ppo_micro_batch_size", "log_prob_micro_batch_size"


@dataclass(frozen=True)
class Dealing:
    """Demand that the samples of some prompts divide among `parts`.

    `to` names the parts; `note` says how their number is made up. `once`: each prompt is dealt
    once, before it is repeated.
    """

    component: str
    prompts: Amount
    parts: int
    to: str
    when: str = "FIRST_STEP"
    releases: Range = ALWAYS
    note: str = ""
    once: bool = False


def samples_of_step(work: VerlWork) -> int | None:
    """Return the samples trained on in a step; None if unknown."""
    per_prompt = work.amount(EACH, SHARES)
    if work.entry.program == FULLY_ASYNC:
        mini, batches = work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount("async_training.require_batches", SHARES)
        return mini.value * batches.value * per_prompt.value if mini and batches and per_prompt else None
    gen_batch = (None if work.entry.own_trainer else work.amount(DRAWN, SHARES)) or work.amount(PROMPTS, SHARES)
    return gen_batch.value * per_prompt.value if gen_batch and per_prompt else None


def judge_batches(work: VerlWork) -> None:
    """Check that the samples of a step divide among all parts."""
    if work.entry.kind not in TRAINERS or work.entry.program == FULLY_ASYNC:
        return
    prompts, per_prompt = work.amount(PROMPTS, SHARES), work.amount(EACH, SHARES)
    gen_batch = work.amount(DRAWN, SHARES) or prompts
    if not prompts or not per_prompt or not gen_batch:
        return
    # Such trainers draw samples until they have enough.
    train_batch = prompts if work.entry.own_trainer else gen_batch
    dealings = [*_count_at_start(work, prompts), *_to_ranks(work, train_batch), *_to_workers(work, gen_batch)]
    reported_keys = set[tuple[str, int, int]]()
    for dealing in dealings:
        amount, factors, of = dealing.prompts, () if dealing.once else (per_prompt,), " before they are repeated" if dealing.once else ""
        total = prod(factor.value for factor in (amount, *factors))
        if (key := (amount.name, dealing.parts, total)) in reported_keys or total % dealing.parts == 0:
            continue
        if dealing.releases == ALWAYS:
            reported_keys.add(key)
        same_kind = [demand for demand in dealings if demand.prompts.name == amount.name and demand.releases == dealing.releases]
        mini = work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES)
        step = lcm(*(demand.parts if demand.once else demand.parts // gcd(demand.parts, per_prompt.value) for demand in same_kind))
        better = multiples_near(amount.value, step)
        better = [value for value in better if amount is not prompts or not mini or value >= mini.value] or better
        left, right = work.samples(total, of, amount, *factors), Number(dealing.parts, dealing.to, note=dealing.note)
        work.divides(dealing.component, SHARES, left, right, dealing.when, better, AMONG, source=SOURCE, releases=dealing.releases)
    whole = work.settings.flag(f"{ACTOR}.use_prefix_grouper", SHARES) and work.settings.flag("trainer.balance_batch", SHARES)
    groups = work.data_parallel("actor") if whole and work.entry.kind is ProgramKind.HYBRID and work.settings.since("0.7.0") else None
    if groups:
        note = f"the samples of a group have a common prefix: {work.text(train_batch)} groups"
        left = Number(train_batch.value, f"{with_noun(train_batch.value, 'group')} of samples", train_batch, note)
        work.divides("actor", SHARES, left, work.ranks("actor", groups), "FIRST_STEP", (), AMONG, source=SOURCE)


def _count_at_start(work: VerlWork, prompts: Amount) -> Iterator[Dealing]:
    """Yield verl's count at the start: accelerators, or micro batches of all Megatron ranks."""
    count, parallel, strategy = work.setup.world_size("actor"), work.data_parallel("actor"), work.is_trained_by(ACTOR)
    is_dynamic = work.settings.flag(f"{ACTOR}.{FITTED}", SHARES) is not False and work.settings.since("0.6.0")
    if is_dynamic or not count or not work.is_checked_at_start:
        return
    micro = work.amount(f"{ACTOR}.{MICRO}_per_gpu", SHARES) if strategy == "megatron" and parallel else None
    if strategy == "fsdp" or work.settings.is_older_than("0.4.0"):
        yield Dealing("actor", prompts, count, f"the {count} accelerators of the trainer", "AT_START")
    elif parallel and micro:
        to = f"{with_noun(parallel, 'data parallel rank')} in micro batches of {micro.value}"
        yield Dealing("actor", prompts, parallel * micro.value, to, "AT_START")


def _not_padded(work: VerlWork) -> Range | None:
    """Return the releases whose trainer needs even samples; None if it pads (0.9.0)."""
    if work.settings.pads is False:
        return ALWAYS
    return Range("0.7.0", "0.9.0") if work.settings.is_v1 and work.settings.at("trainer.use_v1") is None else None


def _to_ranks(work: VerlWork, train_batch: Amount) -> Iterator[Dealing]:
    """Yield the samples of a step per data parallel rank of every role, unless padded."""
    releases, reported_sizes = _not_padded(work), set[int]()
    for name in ("actor", "critic", "reward_model") if releases is not None else ():
        parallel = work.data_parallel(name) if work.is_worker(name) else None
        if parallel and releases is not None and parallel not in reported_sizes:
            reported_sizes.add(parallel)
            yield Dealing(name, train_batch, parallel, f"the {parallel} data parallel ranks of {name}", releases=releases)


def _to_workers(work: VerlWork, gen_batch: Amount) -> Iterator[Dealing]:
    """Yield the samples of ranks or workers that generate, and of reward loops (until 0.9.0).

    Until 0.5.0 prompts are repeated after generation. Since 0.6.0 a replica takes one share.
    """
    settings, releases, ranks = work.settings, _not_padded(work), work.setup.world_size("rollout")
    sync = settings.is_older_than("0.7.0") and settings.word(f"{ROLLOUT}.mode", SHARES) in ("", "sync")
    degrees = engine_of(settings, "rollout") if sync and ranks and work.entry.kind is ProgramKind.HYBRID else None
    if degrees and ranks and not work.entry.own_trainer and (settings.since("0.4.0") or work.is_trained_by(ACTOR) == "fsdp"):
        receivers = ranks // degrees[0].replica if settings.since("0.6.0") else ranks
        to = f"the {receivers} {'replicas' if receivers < ranks else 'ranks'} that generate"
        yield Dealing("rollout", gen_batch, max(receivers, 1), to, once=settings.is_older_than("0.5.0"))
    if settings.since("0.5.0") and settings.word(f"{ROLLOUT}.mode", SHARES) != "sync" and releases is not None:
        agents = work.amount(f"{ROLLOUT}.agent.num_workers", SHARES)
        if agents and work.entry.kind in LOOPS and work.setup.component("rollout"):
            default = ", its default" if agents.span is None else ""
            to, note = f"{agents.value} agent loop workers", f"agent loop workers: `{agents.name}` {agents.value}{default}"
            yield Dealing("rollout", gen_batch, agents.value, to, releases=releases, note=note)
    if work.setup.component("reward_model") and is_engine(work.settings, "reward_model") and settings.is_older_than("0.9.0"):
        old = "reward_model.num_workers"
        key = old if settings.is_older_than("0.7.1") or (settings.migrates and settings.has(old)) else "reward.num_workers"
        workers, has_own_pool = work.amount(key, SHARES), settings.flag(settings.reward_key("enable_resource_pool"), SHARES)
        if workers and has_own_pool is False:
            note = f"reward loop workers: `{workers.name}` {workers.value}"
            yield Dealing("reward_model", gen_batch, workers.value, f"{workers.value} reward loop workers", note=note)


def judge_start(work: VerlWork) -> None:
    """Check the batch sizes of every component; batches fitted to the tokens need none."""
    if work.entry.kind not in TRAINERS:
        return
    is_checked, settings = work.is_checked_at_start, work.settings
    if settings.flag(f"{ACTOR}.{FITTED}", NUMBERS) is False:
        _check_trained(work, "actor", ACTOR, "AT_START" if is_checked else "IN_WORKERS")
        if is_checked:
            one_of_two(work, "rollout", f"{ROLLOUT}.{INFERRED}", f"{ACTOR}.{FITTED}", "AT_START")
        if is_checked and (work.settings.uses_reference or settings.is_older_than("0.4.0")):
            one_of_two(work, "ref", f"{REFERENCE}.{INFERRED}", f"{ACTOR}.{FITTED}", "AT_START")
    _reference_of_megatron(work)
    if work.setup.component("critic") and settings.flag(f"critic.{FITTED}", NUMBERS) is False:
        _check_trained(work, "critic", "critic", "AT_START" if is_checked else "WITH_CRITIC")
    if work.is_worker("reward_model") and is_checked and settings.flag(f"reward_model.{FITTED}", NUMBERS) is False:
        one_of_two(work, "reward_model", "reward_model.micro_batch_size", f"reward_model.{FITTED}", "AT_START")


def judge_tokens(work: VerlWork) -> None:
    """Check that micro batches fitted to the tokens hold a sample of full length.

    Old workers pad every sample to it; those of the model engine are nested. Source: verl,
    verl/utils/seqlen_balancing.py (rearrange_micro_batches), verl/workers/actor/ and critic/.
    """
    prompt, response = (work.amount(f"{ROLLOUT}.{part}_length", NUMBERS) for part in ("prompt", "response"))
    if work.entry.kind not in TRAINERS or not prompt or not response:
        return
    length, judged_names = prompt.value + response.value, set[str]()
    for name, section, prefix, key in facts("settings")["filled"]["rows"]:
        may_skip = section == ROLLOUT and _may_bypass(work)
        is_old = work.is_worker(name) and work.settings.has_new_workers(name) is False
        is_filled = is_old and not may_skip and work.settings.flag(f"{section}.{prefix}{FITTED}", NUMBERS)
        owner, tokens = OWNERS[name], work.amount(f"{section}.{key}", NUMBERS) if is_filled else None
        backend = work.is_trained_by(owner)
        slices = work.amount(f"{owner}.megatron.context_parallel_size", NUMBERS) if backend == "megatron" else work.sequence(owner, NUMBERS)
        if not tokens or tokens.name in judged_names or not backend:
            continue
        judged_names.add(tokens.name)
        factor = slices.value if slices else 1
        note = f"{length} tokens: {work.text(prompt)} + {work.text(response)}; verl pads every sample to them"
        left = Number(tokens.value * factor, work.text(tokens) + (f" x {factor} slices" if factor > 1 else ""), tokens)
        right = Number(length, f"the {length} tokens of a padded sample", note=note)
        work.check(name, AtLeast(code=NUMBERS, left=left, right=right, suggest=[-(-length // factor)], when="FIRST_STEP",
                                 message="{left} is less than {right}", source="verl, verl/utils/seqlen_balancing.py"))  # fmt: skip


def _may_bypass(work: VerlWork) -> bool:
    """Return True if the log probabilities of the servers may do."""
    return work.entry.program == FULLY_ASYNC or work.settings.flag("algorithm.rollout_correction.bypass_mode", NUMBERS) is not False


def judge_shared(work: VerlWork) -> None:
    """Check that a micro batch of all ranks gives each a sample.

    The old workers of FSDP divide it, rounded down.
    """
    for name, key, dynamic_key in facts("settings")["shared"]["rows"] if work.entry.kind in TRAINERS else ():
        is_old = work.is_worker(name) and work.settings.has_new_workers(name) is False and work.is_trained_by(OWNERS[name]) == "fsdp"
        is_skipped = work.settings.flag(dynamic_key, NUMBERS) is not False or (name == "actor" and _may_bypass(work))
        micro = work.amount(key, NUMBERS) if is_old and not is_skipped else None
        ranks = work.setup.world_size(name) if name == "reward_model" else work.data_parallel(name)
        if micro and ranks:
            right, why = Number(ranks, f"the {ranks} data parallel ranks"), "verl divides it by them, and 0 samples are refused"
            work.check(name, AtLeast(code=NUMBERS, left=micro, right=right, suggest=[ranks], message="{left} is less than {right}", why=why,
                                     when="FIRST_STEP", source="verl, verl/workers/fsdp_workers.py (normalize config)"))  # fmt: skip


def _reference_of_megatron(work: VerlWork) -> None:
    """Demand the micro batch size that Megatron's workers read in any case."""
    keys = (f"{REFERENCE}.{INFERRED}", f"{REFERENCE}.{INFERRED}_per_gpu")
    new = work.settings.has_new_workers("ref") and (work.entry.kind is ProgramKind.HYBRID or work.settings.since("0.7.1"))
    if new or not work.settings.uses_reference or not work.is_whole or work.is_trained_by(ACTOR) != "megatron":
        return
    said_at_start = work.is_checked_at_start and not work.settings.flag(f"{ACTOR}.{FITTED}", NUMBERS)
    if not said_at_start and not any(work.settings.is_open(key, NUMBERS) or work.settings.is_set(key, NUMBERS) for key in keys):
        why = "the reference policy of Megatron demands it in any case"
        work.report(MODE, "ref", f"`{keys[1]}` is not set", None, f"set {work.spell(keys[1], 1)}, or more", None, "", why, "IN_WORKERS")


def _check_trained(work: VerlWork, name: str, owner: str, when: str) -> None:
    """Check the sizes of a trained component."""
    prompts = work.amount(PROMPTS, NUMBERS) if when == "AT_START" else None
    mini, micro = work.amount(f"{owner}.ppo_mini_batch_size", NUMBERS), work.amount(f"{owner}.{MICRO}", NUMBERS)
    if mini and prompts:
        message = "{left} is less than {right}"
        work.check(name, AtLeast(code=NUMBERS, source=VALIDATED, left=prompts, right=mini, message=message, when=when))
    if not one_of_two(work, name, f"{owner}.{MICRO}", f"{owner}.{FITTED}", when) or not micro:
        return
    key = f"{owner}.{MICRO}_per_gpu"
    help_ = f"set {work.spell(key, 1)}, or more, in its place"
    if name == "actor" and work.is_trained_by(owner) == "megatron":
        message, why = f"`{key}` is not set", "verl counts with it where Megatron trains, and raises a TypeError"
        work.report(MODE, name, message, micro.span, help_, None, "deprecated", why, when)
        return
    if mini:
        _micro(work, name, owner, mini, micro, when)
    if name == "actor" and not work.settings.has_new_workers(name):
        # Old workers write a rank's part to the other key and later read both; new ones demand the
        # size of one rank.
        message = f"`{micro.name}` is set, which verl's workers refuse"
        why = f"the workers write a rank's part of it to `{key}` too, and refuse both"
        work.report(MODE, name, message, micro.span, help_, None, "deprecated", why, "IN_WORKERS", releases=Range("0.6.0"))


def one_of_two(work: VerlWork, name: str, all_ranks: str, unless: str, when: str) -> bool:
    """Return True if one of two micro batch sizes is set; else report."""
    one_rank, settings = f"{all_ranks}_per_gpu", work.settings
    if settings.is_open(all_ranks, NUMBERS) or settings.is_open(one_rank, NUMBERS):
        return False
    both = [settings.is_set(key, NUMBERS) for key in (all_ranks, one_rank)]
    if all(both):
        message, why = f"`{all_ranks}` and `{one_rank.rpartition('.')[2]}` are both set", "verl takes one of them"
        help_ = f"remove `{all_ranks}`, which is deprecated" if settings.at(one_rank) else f"set `{one_rank}` in its place"
        work.report(MODE, name, message, settings.place(all_ranks), help_, None, "deprecated", why, when)
    elif not any(both) and not work.is_whole:
        work.notes.unsure(MODE, name, f"`{one_rank}` is not in this file; the command line may set it")
    elif not any(both):
        why = f"verl demands it unless `{unless}` is set"
        work.report(MODE, name, f"`{one_rank}` is not set", None, f"set {work.spell(one_rank, 1)}, or more", None, "", why, when)
    return any(both) and not all(both)


def _micro(work: VerlWork, name: str, owner: str, mini: Amount, micro: Amount, when: str) -> None:
    """Check the micro batch size of all ranks together."""
    work.divides(name, NUMBERS, mini, Number(micro.value, work.short_text(micro), micro), when, source=VALIDATED)
    ranks = work.setup.world_size("actor") if when == "AT_START" and work.is_trained_by(owner) == "fsdp" else None
    sequence = work.amount(f"{owner}.ulysses_sequence_parallel_size", NUMBERS)
    slices = sequence.value if sequence else 1
    if ranks:
        minimum = -(-ranks // slices)
        fitting = next((size for size in range(minimum, mini.value + 1) if mini.value % size == 0), minimum)
        factor, note = (f" x {slices}", f"times {slices}, the sequence parallel ranks") if slices > 1 else ("", "")
        product = Number(micro.value * slices, work.text(micro) + factor, micro, note)
        # The edit changes only the micro batch, so it must divide the mini batch already.
        whole, edits = Number(ranks, f"the {ranks} accelerators of the trainer"), mini.value % micro.value == 0
        work.check(name, AtLeast(code=NUMBERS, source=VALIDATED, left=product, right=whole, suggest=[fitting], edits=edits,
                                 message="{left} is less than {right}", when=when))  # fmt: skip
