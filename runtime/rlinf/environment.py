"""What RLinf's workers find in their environment beside what every worker finds there."""

from __future__ import annotations

from ...models.machines.cluster import Cluster
from ...models.placements.placement import Placement

NVIDIA = {"NCCL_CUMEM_ENABLE": "0", "TORCH_NCCL_AVOID_RECORD_STREAMS": "1"}
"""What RLinf sets for NVIDIA's accelerators, so that memory of NCCL can be shared and freed."""


def rlinf_environment(machines: Cluster, placement: Placement, namespace: str, catch_system_failure: bool) -> dict[str, str]:
    """RLinf's worker variables that rank_environment does not have.

    Source: RLinf, rlinf/scheduler/worker/worker_group.py and rlinf/scheduler/hardware/accelerators/nvidia_gpu.py.
    """
    node = machines.nodes[placement.node_rank]
    return {
        "RAY_ACTOR": "1",
        "CLUSTER_NAMESPACE": namespace,
        "CATCH_SYSTEM_FAILURE": str(int(catch_system_failure)),
        "ACCELERATOR_MODEL": node.accelerators[0].model if node.accelerators else "",
    } | (NVIDIA if placement.accelerator_type == "NV_GPU" else {})
