"""Runtime: plans, pools and groups of workers on Ray, with the frameworks' own interfaces.

Names are imported on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..models.strategies import FlexiblePlacementStrategy as FlexiblePlacementStrategy
    from ..models.strategies import NodePlacementStrategy as NodePlacementStrategy
    from ..models.strategies import PackedPlacementStrategy as PackedPlacementStrategy
    from .compat.rlinf.cluster import Cluster as Cluster
    from .compat.rlinf.components import ComponentPlacement as ComponentPlacement
    from .compat.rlinf.group import WorkerGroup as WorkerGroup
    from .compat.rlinf.results import WorkerGroupFuncResult as WorkerGroupFuncResult
    from .compat.verl.batches import DataProtoFuture as DataProtoFuture
    from .compat.verl.dispatch import Dispatch as Dispatch
    from .compat.verl.dispatch import Execute as Execute
    from .compat.verl.dispatch import collect_all_to_all as collect_all_to_all
    from .compat.verl.dispatch import make_nd_compute_dataproto_dispatch_fn as make_nd_compute_dataproto_dispatch_fn
    from .compat.verl.dispatch import register as register
    from .compat.verl.dispatch import register_dispatch_mode as register_dispatch_mode
    from .compat.verl.dispatch import update_dispatch_mode as update_dispatch_mode
    from .compat.verl.pool import RayResourcePool as RayResourcePool
    from .compat.verl.pool import ResourcePool as ResourcePool
    from .compat.verl.pool_manager import ResourcePoolManager as ResourcePoolManager
    from .compat.verl.pool_manager import SubRayResourcePool as SubRayResourcePool
    from .compat.verl.pool_manager import merge_resource_pool as merge_resource_pool
    from .compat.verl.pool_manager import split_resource_pool as split_resource_pool
    from .compat.verl.worker_classes import RayClassWithInitArgs as RayClassWithInitArgs
    from .compat.verl.worker_classes import create_colocated_worker_cls as create_colocated_worker_cls
    from .compat.verl.worker_classes import create_colocated_worker_cls_fused as create_colocated_worker_cls_fused
    from .compat.verl.worker_classes import create_colocated_worker_raw_cls as create_colocated_worker_raw_cls
    from .compat.verl.worker_group import RayWorkerGroup as RayWorkerGroup
    from .failure import LaunchFailed as LaunchFailed
    from .replicas.engine_replica import EchoReplica as EchoReplica
    from .replicas.engine_replica import EngineReplica as EngineReplica
    from .replicas.engine_replica import TransformerReplica as TransformerReplica
    from .replicas.engine_replica import get_replica_class as get_replica_class
    from .replicas.engine_replica import get_rollout_replica_class as get_rollout_replica_class
    from .replicas.replica import Replica as Replica
    from .replicas.replica import RolloutMode as RolloutMode
    from .replicas.replica import launch_replicas as launch_replicas
    from .replicas.replica import num_replicas as num_replicas
    from .simulated.simulate import simulated_cluster as simulated_cluster
    from .workers.inside.base import Worker as Worker
    from .workers.inside.information import WorkerAddress as WorkerAddress

_WHERE = {
    "Cluster": ".compat.rlinf.cluster",
    "ComponentPlacement": ".compat.rlinf.components",
    "DataProtoFuture": ".compat.verl.batches",
    "Dispatch": ".compat.verl.dispatch",
    "EchoReplica": ".replicas.engine_replica",
    "EngineReplica": ".replicas.engine_replica",
    "Execute": ".compat.verl.dispatch",
    "FlexiblePlacementStrategy": "..models.strategies",
    "LaunchFailed": ".failure",
    "NodePlacementStrategy": "..models.strategies",
    "PackedPlacementStrategy": "..models.strategies",
    "RayClassWithInitArgs": ".compat.verl.worker_classes",
    "RayResourcePool": ".compat.verl.pool",
    "RayWorkerGroup": ".compat.verl.worker_group",
    "Replica": ".replicas.replica",
    "ResourcePool": ".compat.verl.pool",
    "ResourcePoolManager": ".compat.verl.pool_manager",
    "RolloutMode": ".replicas.replica",
    "SubRayResourcePool": ".compat.verl.pool_manager",
    "TransformerReplica": ".replicas.engine_replica",
    "Worker": ".workers.inside.base",
    "WorkerAddress": ".workers.inside.information",
    "WorkerGroup": ".compat.rlinf.group",
    "WorkerGroupFuncResult": ".compat.rlinf.results",
    "collect_all_to_all": ".compat.verl.dispatch",
    "create_colocated_worker_cls": ".compat.verl.worker_classes",
    "create_colocated_worker_cls_fused": ".compat.verl.worker_classes",
    "create_colocated_worker_raw_cls": ".compat.verl.worker_classes",
    "get_replica_class": ".replicas.engine_replica",
    "get_rollout_replica_class": ".replicas.engine_replica",
    "launch_replicas": ".replicas.replica",
    "make_nd_compute_dataproto_dispatch_fn": ".compat.verl.dispatch",
    "merge_resource_pool": ".compat.verl.pool_manager",
    "num_replicas": ".replicas.replica",
    "register": ".compat.verl.dispatch",
    "register_dispatch_mode": ".compat.verl.dispatch",
    "simulated_cluster": ".simulated.simulate",
    "split_resource_pool": ".compat.verl.pool_manager",
    "update_dispatch_mode": ".compat.verl.dispatch",
}
"""Name -> its module."""

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
