"""Actor and rollout in one pool, simulators in another.

Source: verl, verl/experimental/vla/main_ppo.py (main_task), rob_ray_trainer.py (init_workers).
"""

from __future__ import annotations

from ....pools.pool import Parts
from ..components.roles import ROLES
from ..configuration import Configuration
from ..entries import Entry
from .declared import FIT, Declared, measured
from .main_ppo import NODES

APART = "env.disagg_sim.enable"


def simulation(settings: Configuration, entry: Entry) -> Declared:
    """`train_rollout_pool` and `env_gpu_pool`; the simulators on the same nodes unless they are to be apart."""
    apart = settings.flag(APART, ROLES)
    for key in ("trainer.n_rollout_gpus_per_node", "trainer.n_env_gpus_per_node"):
        if settings.at(key) is None and settings.notes.document.program is not None:
            settings.notes.missing("trainer", key.removeprefix("trainer."), settings.top, f"add `+{key}=` with a number")
    trained = measured(settings, entry.trained, NODES, "trainer.n_rollout_gpus_per_node", ("actor", "rollout"), entry.slots)
    if apart is None:
        return Declared((trained,) if trained else ())
    nodes = "env.disagg_sim.nnodes" if apart else NODES
    simulated = measured(settings, entry.rolled, nodes, "trainer.n_env_gpus_per_node", ("env",), entry.slots)
    if apart:
        why = "each pool wants nodes with a resource of its own (`train_rollout` and `sim`), which a cluster file does not tell"
        settings.notes.unsure(FIT, entry.rolled, why)
    pools = tuple(pool for pool in (trained, simulated) if pool is not None)
    shared = len(pools) == 2 and not apart
    return Declared(pools, (Parts(sum(pool.parts[0].size for pool in pools), pools[0].count),) if shared else ())
