"""Differences of verl's releases in placement: trainers, roles, and moved keys.

Defaults and keys of a release are data (facts/); conditions of single checks stand at the checks.
Source: verl, verl/trainer/ppo/utils.py (need_critic, need_reference_policy),
verl/trainer/main_ppo.py.
"""

from __future__ import annotations

from ...releases.release import Range
from .configuration import Configuration
from .programs import FULLY_ASYNC, MAIN_PPO, ProgramKind

ROLES = "PW122"
REWARD, LEGACY_REWARD = "reward.reward_model", "reward_model"
MIGRATES = {"main_ppo": Range("0.7.1", "0.9.0"), "fully_async_main": Range("0.8.0")}
"""Program -> releases with a copy of `reward_model.*` to `reward.reward_model.*`.

Source: verl, experimental/reward_loop/reward_loop.py (migrate_legacy_reward_impl) and its callers.
"""
NEW_WORKERS = "trainer.use_legacy_worker_impl"
V1_APART = "separate_async"
TRAINER_MODES = ("sync", "colocate_async", V1_APART)
"""Modes of the V1 trainer. Source: verl, verl/trainer/ppo/v1/trainer_*.py (register_trainer)."""
SEQUENCE = "ulysses_sequence_parallel_size"
SHARDS = {
    "actor": "actor_rollout_ref.actor.fsdp_config.fsdp_size", "critic": "critic.model.fsdp_config.fsdp_size",
    "reward_model": "reward_model.model.fsdp_config.fsdp_size",
}  # fmt: skip
"""Component -> key of the number of shards, before 0.8.0.

The reference policy takes the mesh of the actor.
"""


def has_critic(settings: Configuration) -> bool | None:
    """Return True if there is a critic; None if unknown."""
    if settings.is_open("critic.enable", ROLES):
        return None
    if settings.said("critic.enable", ROLES):
        return settings.flag("critic.enable", ROLES)
    estimator = settings.word("algorithm.adv_estimator", ROLES)
    return None if estimator is None else estimator == "gae"


def has_reference(settings: Configuration) -> bool | None:
    """Return True if there is a separate reference policy; None if unknown.

    With LoRA the actor without its adapter is the reference.
    """
    if settings.until("0.4.0"):
        return True  # main_ppo of 0.3.0 always starts it
    uses = uses_reference(settings)
    return None if uses is None else uses and not _in_actor(settings)


def uses_reference(settings: Configuration) -> bool | None:
    """Return True if training compares with a reference policy; None if unknown."""
    in_reward = settings.flag("algorithm.use_kl_in_reward", ROLES)
    in_loss = settings.flag("actor_rollout_ref.actor.use_kl_loss", ROLES)
    return None if in_reward is None or in_loss is None else in_reward or in_loss


def _in_actor(settings: Configuration) -> bool:
    for key in ("actor_rollout_ref.model.lora.rank", "actor_rollout_ref.model.lora_rank"):
        rank = settings.whole(key, ROLES, 0, least=-(10**6))
        if rank is not None and rank.value > 0:
            return True
    return settings.said("actor_rollout_ref.model.lora_adapter_path", ROLES)


def has_reward_model(settings: Configuration) -> bool | None:
    """Return True if there is a reward model; None if unknown."""
    return settings.flag(reward_key(settings, "enable"), ROLES)


def is_v1(settings: Configuration) -> bool | None:
    """Return True if the V1 trainer runs; None if unknown.

    Source: verl, verl/trainer/main_ppo.py (main).
    """
    if settings.entry.program != MAIN_PPO or settings.until("0.9.0"):
        return False
    return settings.flag("trainer.use_v1", ROLES, True)


def is_apart(settings: Configuration) -> bool:
    """Return True if the V1 trainer has servers in separate pools, beside the actor's processes."""
    return bool(is_v1(settings)) and settings.word("trainer.v1.trainer_mode", ROLES) == V1_APART


def has_new_workers(settings: Configuration) -> bool | None:
    """Return True if workers of the model engine train; None if unknown.

    Since 0.8.0 there are no others. Source: verl, verl/trainer/main_ppo.py
    (add_actor_rollout_worker), verl/workers/engine_workers.py.
    """
    if settings.since("0.8.0") or settings.until("0.6.0"):
        return settings.since("0.8.0")
    word = settings.word(NEW_WORKERS, ROLES)
    return None if word is None else word == "disable"


def reward_key(settings: Configuration, name: str) -> str:
    """Return the key of a reward model's setting.

    Below `reward_model`; since 0.7.1 below `reward.reward_model`.
    """
    old = f"{LEGACY_REWARD}.{name}"
    if settings.until("0.7.1"):
        return old
    return old if migrates(settings) and settings.has(old) else f"{REWARD}.{name}"


def migrates(settings: Configuration) -> bool:
    """Return True if the program takes `reward_model.*` for `reward.reward_model.*`."""
    program = settings.notes.document.program
    name = program.name.removesuffix(".py").replace("/", ".").rpartition(".")[2] if program else "main_ppo"
    return name in MIGRATES and settings.has_release(MIGRATES[name])


def is_reward_served(settings: Configuration) -> bool | None:
    """Return True if an engine serves the reward model; None if unknown.

    Always since 0.7.1, never before 0.7.0.
    """
    if settings.until("0.7.0") or settings.since("0.7.1"):
        return settings.since("0.7.1")
    return False if settings.entry.kind is ProgramKind.SEPARATE else settings.flag("reward_model.use_reward_loop", "PW208")


def has_teachers(settings: Configuration) -> bool:
    """Return True if the program distills from teachers in a separate pool. Since 0.8.0."""
    known = settings.entry.program in (MAIN_PPO, FULLY_ASYNC) and settings.since("0.8.0")
    return known and bool(settings.flag("distillation.enabled", ROLES))


def sequence_key(settings: Configuration, owner: str) -> str:
    """Return the key of a component's sequence parallel size with FSDP.

    Source: verl, verl/trainer/config/critic/dp_critic.yaml, verl/workers/config/actor.py
    (FSDPActorConfig.__post_init__).
    """
    inner = {"critic": "critic.fsdp", "actor_rollout_ref.actor": "actor_rollout_ref.actor.fsdp_config"}.get(owner, "")
    if inner and settings.since("0.8.0") and (owner == "critic" or settings.has(f"{inner}.{SEQUENCE}")):
        return f"{inner}.{SEQUENCE}"
    return f"{owner}.{SEQUENCE}"


def shards_key(settings: Configuration, name: str) -> str:
    """Return the key of a component's number of FSDP shards; "" without a key."""
    return "critic.fsdp.fsdp_size" if name == "critic" and settings.since("0.8.0") else SHARDS.get(name, "")
