"""The times of an embodied job: simulator and policy by how many environments an accelerator has, what trains by its cost.

Source: RLinf, toolkits/auto_placement/util.py (init_global_config_env) and node.py.
"""

from __future__ import annotations

from typing import Mapping

from ....component import Component
from ....configuration.settings import Amount, Settings
from ....machines.cluster import Cluster
from ....placements.assignment import Assignment
from ....planning.workload import Timed
from .profile import Profile
from .reasoning import timed
from .tables import Batch, formula_of, simulated, trained

CODE = "PW604"
ENVIRONMENTS = ("data.env_num", "env.train.total_num_envs")
"""Where their number stands: RLinf's tool reads the first, its workers the second."""


def embodied(
    settings: Settings, cluster: Cluster, placed: Mapping[str, Component], profile: Profile, counts: Mapping[str, int]
) -> dict[str, Timed] | None:
    """Component -> its times; None where the number of environments is not known. `counts`: those that costs were measured on, where said."""
    amount = environments(settings)
    if amount is None and profile.shares:
        return None
    held = Assignment({name: its.runs or () for name, its in placed.items()})
    found: dict[str, Timed] = {}
    for name in placed:
        total = cluster.numbering(placed[name].node_groups).size
        if name in profile.shares and amount is not None:
            found[name] = timed(simulated(profile.shares[name].seconds, amount.value, total, even=name == "env"))
        elif name in profile.costs:
            measured = counts.get(name, held.held(name))
            formula = formula_of(settings.word(f"{name}.training_backend", CODE))
            found[name] = timed(trained(profile.costs[name].nanoseconds, measured, 1, total, Batch(1, 1, 1), formula))
    return found


def environments(settings: Settings) -> Amount | None:
    """How many environments there are."""
    return next((amount for path in ENVIRONMENTS if settings.has(path) and (amount := settings.whole(path, CODE))), None)
