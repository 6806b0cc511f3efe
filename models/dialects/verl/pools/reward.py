"""A pool for the reward model alone, and what verl makes of it.

Source: verl, verl/trainer/main_ppo.py (init_resource_pool_mgr), verl/trainer/ppo/ray_trainer.py (init_workers).
"""

from __future__ import annotations

from ....configuration.settings import Amount
from ....machines.shorthand import MAX_ACCELERATORS_PER_NODE, MAX_NODES
from ....pools.pool import Pool
from ..components.roles import ROLES, has_reward_model
from ..configuration import Configuration
from ..entries import Entry
from .declared import number, pool_of

MODE = "PW123"
NODES, ACCELERATORS, OWN = "reward_model.nnodes", "reward_model.n_gpus_per_node", "reward_model.enable_resource_pool"


def reward_pool(settings: Configuration, entry: Entry) -> Pool | None:
    """`reward_pool`, where its size is known."""
    _must_have_workers(settings, entry)
    count = number(settings, NODES, MAX_NODES, least=-(10**9))
    size = number(settings, ACCELERATORS, MAX_ACCELERATORS_PER_NODE, least=-(10**9))
    for amount in (count, size):
        if amount is not None and amount.value < 1:
            _none(settings, amount)
    if count is None or size is None or count.value < 1 or size.value < 1:
        return None
    return pool_of("reward_pool", count, size, ("reward_model",) if has_reward_model(settings) else (), entry.slots)


def _none(settings: Configuration, amount: Amount) -> None:
    said = " (its default)" if amount.span is None else ""
    message = f"`{OWN}` is set, but `{amount.name}` is {amount.value}{said}; verl demands more than 0"
    at = amount.span or settings.place(OWN)
    settings.notes.error(MODE, "reward_model", message, at, "", f"set `{amount.name}=1` or more", amount.becomes(1))


def _must_have_workers(settings: Configuration, entry: Entry) -> None:
    """Every pool gets a worker group; one without workers fails.

    The reward loop starts its own servers and no worker, so the pool of a reward model that runs in the loop stays empty.
    """
    loop, enabled = settings.flag("reward_model.use_reward_loop", ROLES), has_reward_model(settings)
    if entry.own_trainer or loop is None or enabled is None or (enabled and not loop):
        return
    why = "the reward loop starts servers, no workers (`reward_model.use_reward_loop`)" if enabled else "`reward_model.enable` is not set"
    message = f"`reward_pool` gets no worker, as {why}; verl raises an IndexError when it makes the worker group of a pool without workers"
    note = "verl notices this after the workers of `global_pool` were created"
    settings.notes.error(
        MODE, "reward_model", message, settings.place(OWN), "an empty pool", f"set `{OWN}=False`", settings.becomes(OWN, "False"), note
    )
