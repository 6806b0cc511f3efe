"""Environment variables of a rank: identity, master, visible accelerators."""

from __future__ import annotations

from ...models.placements.placement import Placement
from ..world.vendors import VARIABLES, vendor_of


def rank_environment(component: str, placement: Placement, world_size: int, master: str) -> dict[str, str]:
    """Return the variables that must be set before the user's class is imported.

    A process that sees only its own accelerators has LOCAL_RANK 0 of LOCAL_WORLD_SIZE 1, because
    its first device is number 0 to it; its rank on the node is in NODE_LOCAL_RANK. A process that
    sees the whole node has its rank on the node in both. `master`: address of the node of rank 0,
    which finds MASTER_PORT itself. Source of the names and of that rule: RLinf,
    rlinf/scheduler/worker/worker.py and worker_group.py.
    """
    alone = placement.isolate_accelerator
    variables = {
        "GROUP_NAME": component,
        "WORKER_NAME": f"{component}:{placement.rank}",
        "RANK": placement.rank,
        "WORLD_SIZE": world_size,
        "LOCAL_RANK": 0 if alone else placement.local_rank,
        "LOCAL_WORLD_SIZE": 1 if alone else placement.local_world_size,
        "NODE_RANK": placement.placement_node_rank,
        "NODE_LOCAL_RANK": placement.local_rank,
        "NODE_LOCAL_WORLD_SIZE": placement.local_world_size,
        "CLUSTER_NODE_RANK": placement.node_rank,
        "NODE_GROUP_LABEL": placement.node_group,
        "LOCAL_HARDWARE_RANKS": ",".join(map(str, placement.local_hardware_ranks)),
        "LOCAL_ACCELERATOR_RANK": placement.local_accelerator_id,
        "VISIBLE_DEVICES": ",".join(placement.visible_accelerators),
        "ACCELERATOR_TYPE": placement.accelerator_type,
        "ISOLATE_ACCELERATOR": int(alone),
        "MASTER_ADDR": master,
    }
    return {name: str(value) for name, value in variables.items()} | visibility(placement)


def visibility(placement: Placement) -> dict[str, str]:
    """Return the variables that hide all accelerators but the process's own.

    On a node without accelerators they hide those of every maker. Ray must not overwrite them.
    Newer versions do not if the process requests no accelerator from Ray; older ones need
    RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0, and processes that the worker starts through Ray need the
    maker's switch.
    """
    vendor = vendor_of(placement.accelerator_type)
    keep = {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if vendor is None:
        return keep | dict.fromkeys(VARIABLES, "")
    return keep | vendor.shown(placement.visible_accelerators) | dict.fromkeys(vendor.switches, "1")
