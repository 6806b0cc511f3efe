"""The sections of a new verl configuration that decide which roles there are, and their degrees."""

from __future__ import annotations

from typing import Mapping, Sequence

from ....component import Component
from ....findings.finding import Finding
from .degrees import Data, engine, trained
from .pooled import Pooled


def sections(by_name: Mapping[str, Component], pools: Sequence[Pooled], losses: list[Finding]) -> Data:
    """What stands in the file besides the sizes of its pools, of components by verl's names; `losses` gets what it says less."""
    actor = trained(by_name["actor"], losses) | {"use_kl_loss": "ref" in by_name}
    section: Data = {"actor": actor, "rollout": engine(by_name["rollout"], losses)}
    if "ref" in by_name:
        section["ref"] = trained(by_name["ref"], losses)
    data: Data = {
        "algorithm": {"adv_estimator": "gae" if "critic" in by_name else "grpo"},
        "actor_rollout_ref": section,
    }
    if "critic" in by_name:
        data["critic"] = trained(by_name["critic"], losses)
    if "reward_model" in by_name:
        own = next(pool for pool in pools if by_name["reward_model"] in pool.components)
        data["reward_model"] = _reward(by_name["reward_model"], by_name["actor"] not in own.components, losses)
    return data


def _reward(component: Component, apart: bool, losses: list[Finding]) -> Data:
    """A reward model that is served by an engine where it has its degrees and shares the pool of the actor, else a worker."""
    served = not apart and component.parallel.tp * component.parallel.dp > 1
    data: Data = {"enable": True, "enable_resource_pool": apart, "use_reward_loop": served}
    return data | ({"rollout": engine(component, losses)} if served else trained(component, losses))
