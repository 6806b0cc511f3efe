"""The batch of a step: how it comes about, what verl demands of it before it starts a worker, and among whom it is dealt out.

Source: verl, verl/utils/config.py (validate_config), until 0.6.0 trainer/ppo/ray_trainer.py (_validate_config); verl/workers/config/
actor.py and critic.py; verl/protocol.py (DataProto.chunk), experimental/agent_loop/agent_loop.py (generate_sequences),
verl/trainer/ppo/ray_trainer.py (_balance_batch), verl/trainer/ppo/v1/ (upsample_batch_to_divisible_size).
"""

from __future__ import annotations

from math import gcd, lcm

from ....configuration.settings import Amount
from ....findings.wording import do, plural, with_noun
from ....record import dataclass
from ....releases.release import ALWAYS, Range
from ...checks import AtLeast, Number
from ..entries import Kind
from ..entries.programs import FULLY_ASYNC
from ..releases import has_new_workers, is_v1, migrates, reward_key, since, until
from .notices import AT_START, FIRST_STEP, IN_WORKERS, WITH_CRITIC
from .work import LOOPS, MODE, NUMBERS, SHARES, Work, given, nearest

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
PROMPTS, DRAWN = "data.train_batch_size", "data.gen_batch_size"
EACH, DYNAMIC = f"{ROLLOUT}.n", f"{ACTOR}.use_dynamic_bsz"
SOURCE = "verl, verl/protocol.py (DataProto.chunk)"
VALIDATED = "verl, verl/utils/config.py (validate_config)"


@dataclass(frozen=True)
class Dealing:
    """The samples must divide among `parts`: `to` says what these are, `when` verl would notice, `releases` which of them."""

    component: str
    parts: int
    to: str
    when: str
    releases: Range = ALWAYS


def judge_batches(work: Work) -> None:
    """The samples of a step divide among all that get a part of them."""
    if work.setup.entry.kind not in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT) or work.setup.entry.program == FULLY_ASYNC.program:
        return
    prompts, each, dynamic = work.amount(PROMPTS, SHARES), work.amount(EACH, SHARES), work.settings.flag(DYNAMIC, SHARES)
    drawn = work.amount(DRAWN, SHARES) or prompts
    if not prompts or not each or not drawn:
        return
    trained = prompts if work.setup.entry.own_trainer else drawn  # such trainers draw until there is enough
    dealings = [(prompts, dealing) for dealing in _at_start(work, dynamic)] + [(trained, dealing) for dealing in _to_ranks(work)]
    dealings += [(drawn, dealing) for dealing in (*_to_agents(work), *_to_scorers(work))]
    told: set[tuple[str, int, str]] = set()
    for amount, dealing in dealings:
        samples, key = amount.value * each.value, (amount.name, dealing.parts, dealing.component)
        if key not in told:
            told.add(key)
            same = [other.parts for its, other in dealings if its.name == amount.name and other.releases == dealing.releases]
            step = lcm(*same)
            better = nearest(amount.value, step // gcd(step, each.value))
            text = f"{with_noun(samples, 'sample')} ({work.said(amount)} x {work.said(each)})"
            message = f"{{left}} {do(samples)} not divide among {{right}}"
            left, right = Number(samples, text, amount), Number(dealing.parts, dealing.to)
            work.divides(dealing.component, SHARES, left, right, message, dealing.when, better, source=SOURCE, releases=dealing.releases)
    if groups := _groups(work):
        left = Number(trained.value, f"{work.said(trained)} {plural('group', trained.value)} of samples with a common prefix", trained)
        message, right = (
            f"{{left}} {do(trained.value)} not divide among {{right}}",
            Number(groups, f"the {groups} data parallel ranks of actor"),
        )
        work.divides("actor", SHARES, left, right, message, FIRST_STEP, source=SOURCE)


def _at_start(work: Work, dynamic: bool | None) -> list[Dealing]:
    """What verl counts at the start: the accelerators, or with Megatron (0.4.0) the micro batches of all data parallel ranks.

    Until 0.6.0 batches that are fitted to the tokens are counted too.
    """
    count, parallel, strategy = work.setup.world_size("actor"), work.data_parallel("actor"), work.is_trained_by(ACTOR)
    if (dynamic is not False and since(work.settings, "0.6.0")) or not count or not work.is_checked_at_start:
        return []
    if until(work.settings, "0.4.0"):
        strategy = "fsdp"
    if strategy == "megatron" and parallel and (micro := work.amount(f"{ACTOR}.ppo_micro_batch_size_per_gpu", SHARES)):
        to = f"{with_noun(parallel, 'data parallel rank')} in micro batches of {micro.value}"
        return [Dealing("actor", parallel * micro.value, to, AT_START)]
    return [Dealing("actor", count, f"the {count} accelerators of the trainer", AT_START)] if strategy == "fsdp" else []


def _not_padded(work: Work) -> Range | None:
    """Releases whose trainer needs samples that divide; None if it pads them, which the V1 trainer does by default since 0.9.0."""
    padded = is_v1(work.settings, work.setup.entry)
    if padded is False:
        return ALWAYS
    return Range("0.7.0", "0.9.0") if padded and work.settings.at("trainer.use_v1") is None else None


def _to_ranks(work: Work) -> list[Dealing]:
    """Every role deals the samples of a step out to its data parallel ranks. The V1 trainer pads them."""
    releases = _not_padded(work)
    if releases is None:
        return []
    found: dict[int, Dealing] = {}
    for name in ("actor", "critic", "reward_model"):
        parallel = work.data_parallel(name) if work.setup.component(name) and not work.is_engine(name) else None
        if parallel:
            found.setdefault(parallel, Dealing(name, parallel, f"the {parallel} data parallel ranks of {name}", FIRST_STEP, releases))
    return list(found.values())


def samples_of_step(work: Work) -> int | None:
    """The samples that are trained on in a step; None where that is not known."""
    each = work.amount(EACH, SHARES)
    if work.setup.entry.program == FULLY_ASYNC.program:
        mini, batches = work.amount(f"{ACTOR}.ppo_mini_batch_size", SHARES), work.amount("async_training.require_batches", SHARES)
        return mini.value * batches.value * each.value if mini and batches and each else None
    drawn = (None if work.setup.entry.own_trainer else work.amount(DRAWN, SHARES)) or work.amount(PROMPTS, SHARES)
    return drawn.value * each.value if drawn and each else None


def _to_scorers(work: Work) -> list[Dealing]:
    """A reward model in the pool of the trainer is asked by workers that each get a part of the samples."""
    if not work.setup.component("reward_model") or not work.is_engine("reward_model"):
        return []
    settings = work.settings
    if since(settings, "0.9.0"):
        return []  # they are padded
    old = "reward_model.num_workers"
    key = old if until(settings, "0.7.1") or (migrates(settings) and settings.has(old)) else "reward.num_workers"
    workers, own = work.amount(key, SHARES), settings.flag(reward_key(settings, "enable_resource_pool"), SHARES)
    if workers is None or own is not False:
        return []
    return [Dealing("reward_model", workers.value, f"{workers.value} reward loop workers (`{workers.name}`)", FIRST_STEP)]


def _to_agents(work: Work) -> list[Dealing]:
    """Agent loops deal since 0.5.0, and only where servers generate; those of the V1 trainer deal unevenly."""
    mode, releases = work.settings.word(f"{ROLLOUT}.mode", SHARES), _not_padded(work)
    if until(work.settings, "0.5.0") or mode == "sync" or releases is None:
        return []
    agents = work.amount(f"{ROLLOUT}.agent.num_workers", SHARES)
    if agents is None or work.setup.entry.kind not in LOOPS or work.setup.component("rollout") is None:
        return []
    default = ", its default" if agents.span is None else ""
    return [Dealing("rollout", agents.value, f"{agents.value} agent loop workers (`{agents.name}`{default})", FIRST_STEP, releases)]


def _groups(work: Work) -> int:
    """Data parallel ranks among which whole groups of samples must be dealt out; 0 if groups may be torn."""
    flags = (work.settings.flag(f"{ACTOR}.use_prefix_grouper", SHARES), work.settings.flag("trainer.balance_batch", SHARES))
    return (
        (work.data_parallel("actor") or 0) if all(flags) and work.setup.entry.kind is Kind.HYBRID and since(work.settings, "0.7.0") else 0
    )


REFERENCE, FITTED = "actor_rollout_ref.ref", "use_dynamic_bsz"
MICRO, INFERRED = "ppo_micro_batch_size", "log_prob_micro_batch_size"


def judge_start(work: Work) -> None:
    """The sizes of batches of every component; those that are fitted to the tokens need none."""
    if work.setup.entry.kind not in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT):
        return
    fixed = work.settings.flag(f"{ACTOR}.{FITTED}", NUMBERS) is False
    if work.is_checked_at_start and fixed:
        prompts = work.amount(PROMPTS, NUMBERS)
        _trained(work, "actor", ACTOR, prompts, AT_START)
        one_of_two(work, "rollout", f"{ROLLOUT}.{INFERRED}", f"{ACTOR}.{FITTED}", AT_START)
        if work.has_reference or until(work.settings, "0.4.0"):
            one_of_two(work, "ref", f"{REFERENCE}.{INFERRED}", f"{ACTOR}.{FITTED}", AT_START)
    elif fixed:
        _trained(work, "actor", ACTOR, None, IN_WORKERS)
    _reference_of_megatron(work)
    if work.setup.component("critic") and work.settings.flag(f"critic.{FITTED}", NUMBERS) is False:
        checked = work.is_checked_at_start
        prompts = work.amount(PROMPTS, NUMBERS) if checked else None
        _trained(work, "critic", "critic", prompts, AT_START if checked else WITH_CRITIC)
    worked = work.setup.component("reward_model") and not work.is_engine("reward_model")
    if worked and work.is_checked_at_start and work.settings.flag(f"reward_model.{FITTED}", NUMBERS) is False:
        one_of_two(work, "reward_model", "reward_model.micro_batch_size", f"reward_model.{FITTED}", AT_START)


def _reference_of_megatron(work: Work) -> None:
    """Megatron's workers ask for the size even where batches are fitted to the tokens."""
    keys = (f"{REFERENCE}.{INFERRED}", f"{REFERENCE}.{INFERRED}_per_gpu")
    new = has_new_workers(work.settings, work.setup.entry) and (work.setup.entry.kind is Kind.HYBRID or since(work.settings, "0.7.1"))
    if new or not work.has_reference or not work.is_whole or work.is_trained_by(ACTOR) != "megatron":
        return
    said_at_start = work.is_checked_at_start and not work.settings.flag(f"{ACTOR}.{FITTED}", NUMBERS)
    if said_at_start or any(work.settings.is_open(key, NUMBERS) or work.settings.said(key, NUMBERS) for key in keys):
        return
    message = f"`{keys[1]}` is not set; the reference policy of Megatron demands it in any case"
    work.tell(MODE, "ref", message, None, f"set {work.settings.assigned(keys[1], 1)}, or more", None, "", IN_WORKERS)


def _trained(work: Work, name: str, owner: str, prompts: Amount | None, when: str) -> None:
    """What is demanded of something that is trained."""
    mini, micro = work.amount(f"{owner}.ppo_mini_batch_size", NUMBERS), work.amount(f"{owner}.{MICRO}", NUMBERS)
    if mini and prompts:
        help_ = f"{work.set(prompts, mini.value)}, or {work.settings.assigned(mini.name, prompts.value)}"
        work.check(name, AtLeast(code=NUMBERS, source=VALIDATED, left=given(work.of(prompts)), right=given(work.of(mini)), help=help_,
                                 message="{left} is less than {right}", when=when))  # fmt: skip
    if not one_of_two(work, name, f"{owner}.{MICRO}", f"{owner}.{FITTED}", when) or not micro:
        return
    if name == "actor" and work.is_trained_by(owner) == "megatron":
        key = f"{owner}.{MICRO}_per_gpu"
        message = f"`{key}` is not set, but verl counts with it where Megatron trains, and raises a TypeError"
        work.tell(MODE, name, message, micro.span, f"set {work.settings.assigned(key, 1)}, or more, in its place", None, "deprecated", when)
        return
    if mini:
        _micro(work, name, owner, mini, micro, when)
    if name == "actor":
        _written_twice(work, owner, micro)


def one_of_two(work: Work, name: str, all_ranks: str, unless: str, when: str) -> bool:
    """The size of micro batches of all ranks together, which verl calls deprecated, or that of one rank: is it one of the two?"""
    one_rank = f"{all_ranks}_per_gpu"
    if work.settings.is_open(all_ranks, NUMBERS) or work.settings.is_open(one_rank, NUMBERS):
        return False
    both = [work.settings.said(key, NUMBERS) for key in (all_ranks, one_rank)]
    if all(both):
        message = f"`{all_ranks}` and `{one_rank}` are both set; verl takes one of them"
        help_ = f"remove `{all_ranks}`, which is deprecated"
        if work.settings.at(one_rank) is None:
            message = f"`{all_ranks}` is set, which verl takes for `{one_rank}` too, and refuses both together"
            help_ = f"set `{one_rank}` in its place"
        work.tell(MODE, name, message, work.settings.place(all_ranks), help_, None, "deprecated", when)
    elif not any(both) and not work.is_whole:
        work.setup.notes.unsure(MODE, name, f"`{one_rank}` is not in this file; the command line may set it")
    elif not any(both):
        message = f"`{one_rank}` is not set; verl demands it unless `{unless}` is"
        work.tell(MODE, name, message, None, f"set {work.settings.assigned(one_rank, 1)}, or more", None, "", when)
    return any(both) and not all(both)


def _written_twice(work: Work, owner: str, micro: Amount) -> None:
    """The workers of the actor write a rank's part of the deprecated size to the other key, and read both again with the model (0.6.0).

    The workers of the model engine demand the size of one rank, see modes.py.
    """
    if has_new_workers(work.settings, work.setup.entry):
        return
    key = f"{owner}.{MICRO}_per_gpu"
    message = f"`{micro.name}` is set: the workers write a rank's part of it to `{key}` too, and refuse both together"
    work.tell(
        MODE, "actor", message, micro.span, f"set {work.settings.assigned(key, 1)}, or more, in its place", None, "deprecated", IN_WORKERS,
        releases=Range("0.6.0"),
    )  # fmt: skip


def _micro(work: Work, name: str, owner: str, mini: Amount, micro: Amount, when: str) -> None:
    """What the size of the micro batches of all ranks together must be."""
    left, right = work.of(mini), work.of(micro)
    work.divides(name, NUMBERS, left, right, "{left} is no multiple of {right}: {rest} would be left", when, source=VALIDATED)
    ranks = work.setup.world_size("actor") if when == AT_START and work.is_trained_by(owner) == "fsdp" else None
    sequence = work.amount(f"{owner}.ulysses_sequence_parallel_size", NUMBERS)
    parts = sequence.value if sequence else 1
    if ranks:
        least = -(-ranks // parts)
        fitting = next((size for size in range(least, mini.value + 1) if mini.value % size == 0), least)
        product = Number(micro.value * parts, f"{work.said(micro)} x {parts} sequence parallel {plural('rank', parts)}", micro)
        whole, edits = Number(ranks, f"the {ranks} accelerators of the trainer"), mini.value % micro.value == 0  # one of both is changed
        work.check(name, AtLeast(code=NUMBERS, source=VALIDATED, left=given(product), right=given(whole), suggest=[fitting], edits=edits,
                                 message="{left} is less than {right}", when=when))  # fmt: skip
