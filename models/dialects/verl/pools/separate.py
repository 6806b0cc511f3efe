"""One pool to train in and one to generate in.

Source: verl, verl/experimental/one_step_off_policy/main_ppo.py and verl/experimental/fully_async_policy/fully_async_main.py
(create_resource_pool_manager); verl-recipe, gkd/main_gkd.py.
"""

from __future__ import annotations

from ..components.roles import has_reward_model
from ..configuration import Configuration
from ..entries import Entry
from .declared import Declared, measured
from .main_ppo import ACCELERATORS, NODES, trained_roles


def separate(settings: Configuration, entry: Entry) -> Declared:
    """The pool of the trainer, then that of rollout."""
    trains = ("actor",) if entry.configuration == "on_policy_distill_trainer" else trained_roles(settings, rollout=False)
    if len(trains) > 1 or entry.configuration != "on_policy_distill_trainer":
        trains = (*trains, "reward_model") if has_reward_model(settings) else trains
    pools = (
        measured(settings, entry.trained, NODES, ACCELERATORS, trains, entry.slots),
        measured(settings, entry.rolled, "rollout.nnodes", "rollout.n_gpus_per_node", ("rollout",), entry.slots),
    )
    return Declared(tuple(pool for pool in pools if pool is not None))
