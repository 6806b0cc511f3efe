"""What verl's releases do differently where a job is placed: trainers, CPUs of an accelerator, and where the reward model is configured.

Defaults and keys of a release are data (facts/); conditions of single checks stand at the checks.
"""

from __future__ import annotations

from ...releases.release import Range
from .configuration import Configuration
from .entries import Entry
from .entries.programs import FULLY_ASYNC, MAIN_PPO

ROLES = "PW122"
REWARD, LEGACY_REWARD = "reward.reward_model", "reward_model"
MIGRATES = {MAIN_PPO.name: Range("0.7.1", "0.9.0"), FULLY_ASYNC.name: Range("0.8.0")}
"""Programs that copy `reward_model.*` to `reward.reward_model.*`. Source: verl, experimental/reward_loop/reward_loop.py
(migrate_legacy_reward_impl) and its callers."""
NEW_WORKERS = "trainer.use_legacy_worker_impl"
V1_SYNC, V1_ASYNC, V1_APART = "sync", "colocate_async", "separate_async"
TRAINER_MODES = (V1_SYNC, V1_ASYNC, V1_APART)
"""Source: verl, verl/trainer/ppo/v1/trainer_*.py (register_trainer)."""


def has(settings: Configuration, releases: Range) -> bool:
    """True if the release at hand lies in a range; a document without a release is of the newest."""
    choice = settings.notes.choice
    return choice.has(releases) if choice is not None else not releases.until


def since(settings: Configuration, name: str) -> bool:
    """True if the release at hand is this one or newer."""
    return has(settings, Range(since=name))


def until(settings: Configuration, name: str) -> bool:
    """True if the release at hand is older than this one."""
    return has(settings, Range(until=name))


def is_v1(settings: Configuration, entry: Entry) -> bool | None:
    """True if the V1 trainer runs; None if that is unknown. Source: verl, verl/trainer/main_ppo.py (main)."""
    if entry.program != MAIN_PPO.program or until(settings, "0.9.0"):
        return False
    return settings.flag("trainer.use_v1", ROLES, True)


def is_apart(settings: Configuration, entry: Entry) -> bool:
    """True if the V1 trainer has servers in pools of their own, beside those in the processes of the actor."""
    return bool(is_v1(settings, entry)) and settings.word("trainer.v1.trainer_mode", ROLES) == V1_APART


def has_new_workers(settings: Configuration, entry: Entry) -> bool | None:
    """True if the workers of the model engine train; the only ones since 0.8.0. None if that is unknown.

    Source: verl, verl/trainer/main_ppo.py (add_actor_rollout_worker), verl/workers/engine_workers.py.
    """
    if since(settings, "0.8.0"):
        return True
    if until(settings, "0.6.0"):
        return False
    word = settings.word(NEW_WORKERS, ROLES)
    return None if word is None else word == "disable"


def reward_key(settings: Configuration, name: str) -> str:
    """Where a setting of the reward model stands: below `reward_model`, or since 0.7.1 below `reward.reward_model`."""
    old = f"{LEGACY_REWARD}.{name}"
    if until(settings, "0.7.1"):
        return old
    return old if migrates(settings) and settings.has(old) else f"{REWARD}.{name}"


def migrates(settings: Configuration) -> bool:
    """True if the program takes `reward_model.*` for `reward.reward_model.*`."""
    program = settings.notes.document.program
    name = program.name.removesuffix(".py").replace("/", ".").rpartition(".")[2] if program else MAIN_PPO.name
    return name in MIGRATES and has(settings, MIGRATES[name])


def is_reward_always_served(settings: Configuration) -> bool:
    """True if an inference engine serves the reward model in any case: workers of a reward model are gone since 0.7.1."""
    return since(settings, "0.7.1")


def sequence_key(settings: Configuration, owner: str) -> str:
    """Where the sequence parallel size of something trained with FSDP stands.

    Source: verl, verl/trainer/config/critic/dp_critic.yaml, verl/workers/config/actor.py (FSDPActorConfig.__post_init__).
    """
    inner = {"critic": "critic.fsdp", "actor_rollout_ref.actor": "actor_rollout_ref.actor.fsdp_config"}.get(owner, "")
    if inner and since(settings, "0.8.0") and (owner == "critic" or settings.has(f"{inner}.{SEQUENCE}")):
        return f"{inner}.{SEQUENCE}"
    return f"{owner}.{SEQUENCE}"


def shards_key(settings: Configuration, name: str) -> str:
    """Where the number of ranks that FSDP shards over stands; "" for a component without one of its own."""
    if name == "critic" and since(settings, "0.8.0"):
        return "critic.fsdp.fsdp_size"
    return SHARDS.get(name, "")


SEQUENCE = "ulysses_sequence_parallel_size"
SHARDS = {
    "actor": "actor_rollout_ref.actor.fsdp_config.fsdp_size", "critic": "critic.model.fsdp_config.fsdp_size",
    "reward_model": "reward_model.model.fsdp_config.fsdp_size",
}  # fmt: skip
"""Before 0.8.0. The reference policy takes the mesh of the actor."""
