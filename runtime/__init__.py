"""Runtime: plans, pools and groups of workers on Ray, with the frameworks' own interfaces.

Names are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compat.rlinf.cluster import Cluster
    from .compat.rlinf.components import ComponentPlacement
    from .compat.rlinf.group import WorkerGroup
    from .compat.rlinf.results import WorkerGroupFuncResult
    from .compat.rlinf.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy
    from .compat.verl.batches import DataProtoFuture
    from .compat.verl.dispatch import Dispatch, Execute, collect_all_to_all, make_nd_compute_dataproto_dispatch_fn, register
    from .compat.verl.pool import RayResourcePool
    from .compat.verl.pool_manager import ResourcePoolManager, SubRayResourcePool, split_resource_pool
    from .compat.verl.worker_classes import RayClassWithInitArgs, create_colocated_worker_cls
    from .compat.verl.worker_group import RayWorkerGroup
    from .failure import LaunchFailed
    from .replicas.launching import launch_replicas, num_replicas
    from .replicas.replica import EchoReplica, Replica, RolloutMode, get_replica_class, get_rollout_replica_class
    from .simulated.simulate import simulated_cluster
    from .workers.inside.base import Worker
    from .workers.inside.information import WorkerAddress

_NAMES = {
    ".compat.rlinf.strategies": "FlexiblePlacementStrategy NodePlacementStrategy PackedPlacementStrategy",
    ".compat.rlinf.cluster": "Cluster",
    ".compat.rlinf.components": "ComponentPlacement",
    ".compat.rlinf.group": "WorkerGroup",
    ".compat.rlinf.results": "WorkerGroupFuncResult",
    ".compat.verl.batches": "DataProtoFuture",
    ".compat.verl.dispatch": "Dispatch Execute collect_all_to_all make_nd_compute_dataproto_dispatch_fn register",
    ".compat.verl.pool": "RayResourcePool",
    ".compat.verl.pool_manager": "ResourcePoolManager SubRayResourcePool split_resource_pool",
    ".compat.verl.worker_classes": "RayClassWithInitArgs create_colocated_worker_cls",
    ".compat.verl.worker_group": "RayWorkerGroup",
    ".failure": "LaunchFailed",
    ".replicas.launching": "launch_replicas num_replicas",
    ".replicas.replica": "EchoReplica Replica RolloutMode get_replica_class get_rollout_replica_class",
    ".simulated.simulate": "simulated_cluster",
    ".workers.inside.base": "Worker",
    ".workers.inside.information": "WorkerAddress",
}
"""Module -> its names."""
_WHERE = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Cluster", "ComponentPlacement", "DataProtoFuture", "Dispatch", "EchoReplica", "Execute",
    "FlexiblePlacementStrategy", "LaunchFailed", "NodePlacementStrategy", "PackedPlacementStrategy", "RayClassWithInitArgs",
    "RayResourcePool", "RayWorkerGroup", "Replica", "ResourcePoolManager", "RolloutMode", "SubRayResourcePool",
    "Worker", "WorkerAddress", "WorkerGroup", "WorkerGroupFuncResult", "collect_all_to_all",
    "create_colocated_worker_cls", "get_replica_class",
    "get_rollout_replica_class", "launch_replicas", "make_nd_compute_dataproto_dispatch_fn", "num_replicas",
    "register", "simulated_cluster", "split_resource_pool",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
