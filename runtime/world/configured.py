"""Environment variables of node groups for the processes on their nodes."""

from __future__ import annotations

from ...models.machines.cluster import Cluster
from ...models.placements.placement import Placement

_PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH", "LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CPATH")


def configured(cluster: Cluster, placement: Placement) -> dict[str, str]:
    """Return the `env_vars` of a process's node group for its node.

    A list of paths is prepended to the existing value. Source of the merging: RLinf,
    rlinf/scheduler/cluster/utils.py (RLINF_PATH_ENV_MERGE_MODE, default append).
    """
    group = cluster.groups.get(placement.node_group)
    variables: dict[str, str] = {}
    for config in group.env_configs if group else ():
        if placement.node_rank in config.node_ranks:
            variables |= dict(config.env_vars)
    return {name: f"{value}:${{{name}}}" if name in _PATHS and value else value for name, value in variables.items()}
