"""What RLinf's workers find in their environment beside what every worker finds there."""

from __future__ import annotations

import json
import os
from typing import Collection

from ...models.machines.cluster import Cluster
from ...models.machines.node_group import NODE
from ...models.placements.placement import Placement
from .node_info import hardware_on

NVIDIA = {"NCCL_CUMEM_ENABLE": "0", "TORCH_NCCL_AVOID_RECORD_STREAMS": "1"}
"""What RLinf sets for NVIDIA's accelerators, so that memory of NCCL can be shared and freed."""

RENDERING = ("MUJOCO_EGL_DEVICE_ID", "EGL_DEVICE_ID")
ON_CPU = ("osmesa", "glx")
"""The values of MUJOCO_GL with which nothing is rendered on an accelerator."""

PREFIX, OF_ONE_NODE = "RLINF_", ("RLINF_NODE_RANK",)
"""The variables of the driver that its workers get too, and those that belong to one node alone."""


def rlinf_environment(machines: Cluster, placement: Placement, namespace: str, catch_system_failure: bool, address: str) -> dict[str, str]:
    """RLinf's worker variables that rank_environment does not have. `address` is that of the node.

    Of NVIDIA's accelerators, the first that a worker sees is also the one that it renders on, under its own number: RLinf asks the
    driver's node which number EGL has for it, and takes this one where that says nothing.
    Source: RLinf, rlinf/scheduler/worker/worker_group.py and rlinf/scheduler/hardware/accelerators/nvidia_gpu.py.
    """
    node = machines.nodes[placement.node_rank]
    kind = machines.groups[placement.node_group].kind
    first = sum(len(before.accelerators) for before in machines.nodes[: placement.node_rank])
    ranks = {accelerator.physical_id: first + index for index, accelerator in enumerate(node.accelerators)}
    found = {
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
        found |= NVIDIA
        if os.environ.get("MUJOCO_GL") not in ON_CPU and placement.visible_accelerators:
            found |= dict.fromkeys(RENDERING, placement.visible_accelerators[0])
    return found


def of_the_driver(names: Collection[str]) -> dict[str, str]:
    """These variables of this process, and RLinf's own, such as RLINF_EXT_MODULE: programs are started with them."""
    return {name: value for name, value in os.environ.items() if name in names or (name.startswith(PREFIX) and name not in OF_ONE_NODE)}
