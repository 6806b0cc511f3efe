"""One process of a group: its node, its resources, its environment variables."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Mapping

from ...models.placements.placement import Placement
from ...models.placements.plan import Plan
from ..world.interpreters import find_env_vars, interpreter
from ..world.vendors import VARIABLES, vendor_of
from .inside.host import LOG


def rank_environment(component: str, placement: Placement, world_size: int, master: str) -> dict[str, str]:
    """Return the variables that must be set before the user's class is imported.

    A process that sees only its own accelerators has LOCAL_RANK 0 of LOCAL_WORLD_SIZE 1, because
    its first device is number 0 to it; its rank on the node is in NODE_LOCAL_RANK. A process that
    sees the whole node has its rank on the node in both. `master`: address of the node of rank 0,
    which finds MASTER_PORT itself. Source of the names and of that rule: RLinf,
    rlinf/scheduler/worker/worker.py and worker_group.py.
    """
    is_isolated = placement.isolate_accelerator
    variables = {
        "GROUP_NAME": component,
        "WORKER_NAME": f"{component}:{placement.rank}",
        "RANK": placement.rank,
        "WORLD_SIZE": world_size,
        "LOCAL_RANK": 0 if is_isolated else placement.local_rank,
        "LOCAL_WORLD_SIZE": 1 if is_isolated else placement.local_world_size,
        "NODE_RANK": placement.placement_node_rank,
        "NODE_LOCAL_RANK": placement.local_rank,
        "NODE_LOCAL_WORLD_SIZE": placement.local_world_size,
        "CLUSTER_NODE_RANK": placement.node_rank,
        "NODE_GROUP_LABEL": placement.node_group,
        "LOCAL_HARDWARE_RANKS": ",".join(map(str, placement.local_hardware_ranks)),
        "LOCAL_ACCELERATOR_RANK": placement.local_accelerator_id,
        "VISIBLE_DEVICES": ",".join(placement.visible_accelerators),
        "ACCELERATOR_TYPE": placement.accelerator_type,
        "ISOLATE_ACCELERATOR": int(is_isolated),
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
    return keep | vendor.list_variables(placement.visible_accelerators) | dict.fromkeys(vendor.switches, "1")


@dataclass(frozen=True, slots=True)
class Member:
    """Process to start.

    Attributes
    ----------
    placement : its location; the rank is that in the group.
    name : name of the actor, unique in the namespace.
    environment : set before the user's class is constructed; the group adds MASTER_PORT.
    variables : set before the interpreter starts; needed for variables that the loader or Python
        reads.
    python : the interpreter, if not the node's own.
    arguments, named : for the constructor of the user's class.
    """

    placement: Placement
    name: str
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log(self) -> str:
        """Path of the file with its output, on its node; "" without one."""
        return self.environment.get(LOG, "")


def log_path(log_dir: str, component: str, rank: int) -> str:
    """Return the path of a worker's output."""
    return os.path.join(log_dir, f"{re.sub(r'[^A-Za-z0-9_.-]', '_', component)}-{rank}.log")


def members_of(plan: Plan, component: str, job: str, address: str, log_dir: str = "") -> list[Member]:
    """Return a component's processes in rank order; `address`: of the node of rank 0."""
    placements = plan.placements(component)

    def environment(placement: Placement) -> dict[str, str]:
        log = {LOG: log_path(log_dir, component, placement.rank)} if log_dir else {}
        return rank_environment(component, placement, len(placements), address) | log

    return [
        Member(
            placement, f"{job}/{component}/{placement.rank}", environment(placement),
            find_env_vars(plan.cluster, placement), interpreter(plan.cluster, placement),
        )
        for placement in placements
    ]  # fmt: skip
