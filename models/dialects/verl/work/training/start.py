"""What verl demands of its batch sizes before it starts a worker.

Source: verl, verl/utils/config.py (validate_config), verl/workers/config/actor.py and critic.py (__post_init__ and validate).
"""

from __future__ import annotations

from .....configuration.settings import Amount
from .....findings.wording import plural
from ...entries import Kind
from ..notices import AT_START, IN_WORKERS, WITH_CRITIC
from ..work import MODE, NEW_WORKERS, NUMBERS, Work, nearest

ACTOR, ROLLOUT, REFERENCE = (f"actor_rollout_ref.{name}" for name in ("actor", "rollout", "ref"))
PROMPTS, DYNAMIC = "data.train_batch_size", "use_dynamic_bsz"
MICRO, INFERRED = "ppo_micro_batch_size", "log_prob_micro_batch_size"


def judge_start(work: Work) -> None:
    """The sizes of batches of every component; those that are fitted to the tokens need none."""
    if work.setup.entry.kind not in (Kind.HYBRID, Kind.SEPARATE, Kind.SPLIT):
        return
    if work.is_checked_at_start and work.settings.flag(f"{ACTOR}.{DYNAMIC}", NUMBERS) is False:
        prompts = work.amount(PROMPTS, NUMBERS)
        _trained(work, "actor", ACTOR, prompts, AT_START)
        one_of_two(work, "rollout", f"{ROLLOUT}.{INFERRED}", f"{ACTOR}.{DYNAMIC}", AT_START)
        if work.has_reference:
            one_of_two(work, "ref", f"{REFERENCE}.{INFERRED}", f"{ACTOR}.{DYNAMIC}", AT_START)
    elif not work.is_checked_at_start and work.settings.flag(f"{ACTOR}.{DYNAMIC}", NUMBERS) is False:
        _trained(work, "actor", ACTOR, None, IN_WORKERS)
    _reference_of_megatron(work)
    if work.setup.component("critic") and work.settings.flag(f"critic.{DYNAMIC}", NUMBERS) is False:
        checked = work.is_checked_at_start
        prompts = work.amount(PROMPTS, NUMBERS) if checked else None
        _trained(work, "critic", "critic", prompts, AT_START if checked else WITH_CRITIC)
    legacy = work.setup.component("reward_model") and work.settings.flag("reward_model.use_reward_loop", NUMBERS) is False
    if legacy and work.is_checked_at_start and work.settings.flag(f"reward_model.{DYNAMIC}", NUMBERS) is False:
        one_of_two(work, "reward_model", "reward_model.micro_batch_size", f"reward_model.{DYNAMIC}", AT_START)


def _reference_of_megatron(work: Work) -> None:
    """Megatron's workers ask for the size even where batches are fitted to the tokens."""
    keys = (f"{REFERENCE}.{INFERRED}", f"{REFERENCE}.{INFERRED}_per_gpu")
    new = work.settings.word(NEW_WORKERS, NUMBERS) == "disable" and work.setup.entry.kind is Kind.HYBRID
    if new or not work.has_reference or not work.is_whole or work.is_trained_by(ACTOR) != "megatron":
        return
    said_at_start = work.is_checked_at_start and not work.settings.flag(f"{ACTOR}.{DYNAMIC}", NUMBERS)
    if said_at_start or any(work.settings.is_open(key, NUMBERS) or work.settings.said(key, NUMBERS) for key in keys):
        return
    message = f"`{keys[1]}` is not set; the reference policy of Megatron demands it in any case"
    work.tell(MODE, "ref", message, None, f"set {work.settings.assigned(keys[1], 1)}, or more", None, "", IN_WORKERS)


def _trained(work: Work, name: str, owner: str, prompts: Amount | None, when: str) -> None:
    """What is demanded of something that is trained."""
    mini, micro = work.amount(f"{owner}.ppo_mini_batch_size", NUMBERS), work.amount(f"{owner}.{MICRO}", NUMBERS)
    if mini and prompts and prompts.value < mini.value:
        message = f"{work.said(prompts)} is less than {work.said(mini)}"
        help_ = f"{work.set(prompts, mini.value)}, or {work.settings.assigned(mini.name, prompts.value)}"
        work.tell(NUMBERS, name, message, prompts.span or mini.span, help_, prompts.becomes(mini.value), "too few", when)
    if not one_of_two(work, name, f"{owner}.{MICRO}", f"{owner}.{DYNAMIC}", when) or not micro:
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
    """The workers of the actor write a rank's part of the deprecated size to the other key, and read both again with the model."""
    key = f"{owner}.{MICRO}_per_gpu"
    message = f"`{micro.name}` is set: the workers write a rank's part of it to `{key}` too, and refuse both together"
    work.tell(
        MODE, "actor", message, micro.span, f"set {work.settings.assigned(key, 1)}, or more, in its place", None, "deprecated", IN_WORKERS
    )


def _micro(work: Work, name: str, owner: str, mini: Amount, micro: Amount, when: str) -> None:
    """What the size of the micro batches of all ranks together must be."""
    if mini.value % micro.value:
        message = f"{work.said(mini)} is no multiple of {work.said(micro)}: {mini.value % micro.value} would be left"
        better = nearest(mini.value, micro.value)
        close = min(better, key=lambda value: abs(value - mini.value))
        work.tell(NUMBERS, name, message, mini.span or micro.span, work.set(mini, *better), mini.becomes(close), "", when)
    ranks = work.setup.world_size("actor") if when == AT_START and work.is_trained_by(owner) == "fsdp" else None
    sequence = work.amount(f"{owner}.ulysses_sequence_parallel_size", NUMBERS)
    parts = sequence.value if sequence else 1
    if ranks and micro.value * parts < ranks:
        message = (
            f"{work.said(micro)} x {parts} sequence parallel {plural('rank', parts)} is less than the {ranks} accelerators of the trainer"
        )
        least = -(-ranks // parts)
        fitting = next((size for size in range(least, mini.value + 1) if mini.value % size == 0), least)
        edit = None if mini.value % micro.value else micro.becomes(fitting)  # one of both numbers is changed
        work.tell(NUMBERS, name, message, micro.span, work.set(micro, fitting), edit, "too few", when)
