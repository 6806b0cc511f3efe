"""Environment variables of RLinf's workers beyond those of every worker."""

from __future__ import annotations

import json
import os
from typing import Collection

from ....models.machines.cluster import Cluster
from ....models.machines.node_group import NODE
from ....models.placements.placement import Placement
from .machines import hardware_on

NVIDIA = {"NCCL_CUMEM_ENABLE": "0", "TORCH_NCCL_AVOID_RECORD_STREAMS": "1"}
"""RLinf's settings for NVIDIA accelerators, which let NCCL share and free memory."""

RENDERING = ("MUJOCO_EGL_DEVICE_ID", "EGL_DEVICE_ID")
ON_CPU = ("osmesa", "glx")
"""Values of MUJOCO_GL that render without an accelerator."""

PREFIX, NODE_SPECIFIC = "RLINF_", ("RLINF_NODE_RANK",)
"""Prefix of the driver's variables for workers, and the exceptions specific to a node."""


def rlinf_environment(machines: Cluster, placement: Placement, namespace: str, catch_system_failure: bool, address: str) -> dict[str, str]:
    """Return RLinf's worker variables beyond those of rank_environment.

    `address`: of the node.

    A worker renders on the first NVIDIA accelerator that it sees, under its own number: RLinf asks
    the driver's node for the EGL number and takes this one if there is none. Source: RLinf,
    rlinf/scheduler/worker/worker_group.py and rlinf/scheduler/hardware/accelerators/nvidia_gpu.py.
    """
    node = machines.nodes[placement.node_rank]
    kind = machines.groups[placement.node_group].kind
    first = sum(len(earlier.accelerators) for earlier in machines.nodes[: placement.node_rank])
    ranks = {accelerator.physical_id: first + index for index, accelerator in enumerate(node.accelerators)}
    variables = {
        "RAY_ACTOR": "1",
        "CLUSTER_NAMESPACE": namespace,
        "CATCH_SYSTEM_FAILURE": str(int(catch_system_failure)),
        "ACCELERATOR_MODEL": node.accelerator_model,
        "NODE_ADDRESS": address,
        "GLOBAL_ACCELERATOR_RANKS": ",".join(str(ranks[id]) for id in placement.visible_accelerators),
        "HARDWARE_TYPE": "" if kind == NODE else kind,
        "LOCAL_HARDWARE": json.dumps(hardware_on(node, kind, placement.local_hardware_ranks)),
    }
    if placement.accelerator_type == "NV_GPU":
        variables |= NVIDIA
        if os.environ.get("MUJOCO_GL") not in ON_CPU and placement.visible_accelerators:
            variables |= dict.fromkeys(RENDERING, placement.visible_accelerators[0])
    return variables


def forwarded_variables(names: Collection[str]) -> dict[str, str]:
    """Return the named variables of this process, plus RLinf's own, such as RLINF_EXT_MODULE.

    Programs are started with them.
    """
    return {name: value for name, value in os.environ.items() if name in names or (name.startswith(PREFIX) and name not in NODE_SPECIFIC)}
