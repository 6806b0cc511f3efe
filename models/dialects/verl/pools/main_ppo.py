"""The pools of `main_ppo`: one for all roles, and one for the reward model if that is wanted.

Source: verl, verl/trainer/main_ppo.py, TaskRunner.init_resource_pool_mgr and add_reward_model_worker.
"""

from __future__ import annotations

from ....pools.pool import Pool
from ..components.roles import ROLES, has_critic, has_reference, has_reward_model
from ..configuration import Configuration
from ..entries import Entry, Kind
from .declared import Declared, measured
from .reward import reward_pool

NODES, ACCELERATORS = "trainer.nnodes", "trainer.n_gpus_per_node"


def one_pool(settings: Configuration, entry: Entry) -> Declared:
    """`global_pool`, and `reward_pool` where the reward model has a pool of its own."""
    own = settings.flag("reward_model.enable_resource_pool", ROLES)
    roles = trained_roles(settings)
    if has_reward_model(settings) and own is False:
        roles = (*roles, "reward_model")
    pools = (measured(settings, "global_pool", NODES, ACCELERATORS, roles, entry.slots), reward_pool(settings, entry) if own else None)
    return Declared(tuple(pool for pool in pools if pool is not None))


def trained_roles(settings: Configuration, rollout: bool = True) -> tuple[str, ...]:
    """The components that are trained or frozen beside each other."""
    found = ["actor", *(["rollout"] if rollout else [])]
    if has_reference(settings):
        found.append("ref")
    if has_critic(settings):
        found.append("critic")
    return tuple(found)


def single(settings: Configuration, entry: Entry) -> Declared:
    """The one pool of a program that generates, or that fine-tunes."""
    component = "rollout" if entry.kind is Kind.GENERATION else "actor"
    pool: Pool | None = measured(settings, "the pool", NODES, ACCELERATORS, (component,), entry.slots)
    return Declared((pool,) if pool else ())
