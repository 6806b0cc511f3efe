"""Which roles a job has beside actor and rollout.

Source: verl, verl/trainer/ppo/utils.py (need_critic, need_reference_policy); verl/trainer/main_ppo.py, TaskRunner.
"""

from __future__ import annotations

from ..configuration import Configuration
from ..releases import reward_key, until

ROLES = "PW122"


def has_critic(settings: Configuration) -> bool | None:
    """Is there a critic? None where that is not known."""
    if settings.is_open("critic.enable", ROLES):
        return None
    if settings.said("critic.enable", ROLES):
        return settings.flag("critic.enable", ROLES)
    estimator = settings.word("algorithm.adv_estimator", ROLES)
    return None if estimator is None else estimator == "gae"


def has_reference(settings: Configuration) -> bool | None:
    """Is there a reference policy of its own? With LoRA the actor without its adapter is one."""
    if until(settings, "0.4.0"):
        return True  # main_ppo of 0.3.0 starts it in any case
    uses = uses_reference(settings)
    return None if uses is None else uses and not _in_actor(settings)


def uses_reference(settings: Configuration) -> bool | None:
    """Is what is trained compared with a reference policy?"""
    in_reward = settings.flag("algorithm.use_kl_in_reward", ROLES)
    in_loss = settings.flag("actor_rollout_ref.actor.use_kl_loss", ROLES)
    if in_reward is None or in_loss is None:
        return None
    return in_reward or in_loss


def _in_actor(settings: Configuration) -> bool:
    for key in ("actor_rollout_ref.model.lora.rank", "actor_rollout_ref.model.lora_rank"):
        rank = settings.whole(key, ROLES, 0, least=-(10**6))
        if rank is not None and rank.value > 0:
            return True
    return settings.said("actor_rollout_ref.model.lora_adapter_path", ROLES)


def has_reward_model(settings: Configuration) -> bool | None:
    """Is there a reward model?"""
    return settings.flag(reward_key(settings, "enable"), ROLES)
