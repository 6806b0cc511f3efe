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
    from .dispatch.batches import DataProtoFuture as DataProtoFuture
    from .dispatch.mesh import make_nd_compute_dataproto_dispatch_fn as make_nd_compute_dataproto_dispatch_fn
    from .dispatch.modes import Dispatch as Dispatch
    from .dispatch.modes import Execute as Execute
    from .dispatch.register import register as register
    from .dispatch.table import collect_all_to_all as collect_all_to_all
    from .dispatch.table import register_dispatch_mode as register_dispatch_mode
    from .dispatch.table import update_dispatch_mode as update_dispatch_mode
    from .failure import LaunchFailed as LaunchFailed
    from .replicas.arithmetic import num_replicas as num_replicas
    from .replicas.engine_replica import EchoReplica as EchoReplica
    from .replicas.engine_replica import EngineReplica as EngineReplica
    from .replicas.engine_replica import TransformerReplica as TransformerReplica
    from .replicas.engine_replica import get_replica_class as get_replica_class
    from .replicas.engine_replica import get_rollout_replica_class as get_rollout_replica_class
    from .replicas.launching import launch_replicas as launch_replicas
    from .replicas.replica import Replica as Replica
    from .replicas.replica import RolloutMode as RolloutMode
    from .rlinf.cluster import Cluster as Cluster
    from .rlinf.components import ComponentPlacement as ComponentPlacement
    from .rlinf.group import WorkerGroup as WorkerGroup
    from .rlinf.results import WorkerGroupFuncResult as WorkerGroupFuncResult
    from .simulated.simulated_cluster import simulated_cluster as simulated_cluster
    from .verl.groups.colocated import create_colocated_worker_cls as create_colocated_worker_cls
    from .verl.groups.fused import create_colocated_worker_cls_fused as create_colocated_worker_cls_fused
    from .verl.groups.fused import create_colocated_worker_raw_cls as create_colocated_worker_raw_cls
    from .verl.groups.ray_class import RayClassWithInitArgs as RayClassWithInitArgs
    from .verl.groups.worker_group import RayWorkerGroup as RayWorkerGroup
    from .verl.pools.manager import ResourcePoolManager as ResourcePoolManager
    from .verl.pools.pool import RayResourcePool as RayResourcePool
    from .verl.pools.resource_pool import ResourcePool as ResourcePool
    from .verl.pools.split import SubRayResourcePool as SubRayResourcePool
    from .verl.pools.split import merge_resource_pool as merge_resource_pool
    from .verl.pools.split import split_resource_pool as split_resource_pool
    from .workers.inside.address import WorkerAddress as WorkerAddress
    from .workers.inside.base import Worker as Worker

_WHERE = {
    "Cluster": ".rlinf.cluster",
    "ComponentPlacement": ".rlinf.components",
    "DataProtoFuture": ".dispatch.batches",
    "Dispatch": ".dispatch.modes",
    "EchoReplica": ".replicas.engine_replica",
    "EngineReplica": ".replicas.engine_replica",
    "Execute": ".dispatch.modes",
    "FlexiblePlacementStrategy": "..models.strategies",
    "LaunchFailed": ".failure",
    "NodePlacementStrategy": "..models.strategies",
    "PackedPlacementStrategy": "..models.strategies",
    "RayClassWithInitArgs": ".verl.groups.ray_class",
    "RayResourcePool": ".verl.pools.pool",
    "RayWorkerGroup": ".verl.groups.worker_group",
    "Replica": ".replicas.replica",
    "ResourcePool": ".verl.pools.resource_pool",
    "ResourcePoolManager": ".verl.pools.manager",
    "RolloutMode": ".replicas.replica",
    "SubRayResourcePool": ".verl.pools.split",
    "TransformerReplica": ".replicas.engine_replica",
    "Worker": ".workers.inside.base",
    "WorkerAddress": ".workers.inside.address",
    "WorkerGroup": ".rlinf.group",
    "WorkerGroupFuncResult": ".rlinf.results",
    "collect_all_to_all": ".dispatch.table",
    "create_colocated_worker_cls": ".verl.groups.colocated",
    "create_colocated_worker_cls_fused": ".verl.groups.fused",
    "create_colocated_worker_raw_cls": ".verl.groups.fused",
    "get_replica_class": ".replicas.engine_replica",
    "get_rollout_replica_class": ".replicas.engine_replica",
    "launch_replicas": ".replicas.launching",
    "make_nd_compute_dataproto_dispatch_fn": ".dispatch.mesh",
    "merge_resource_pool": ".verl.pools.split",
    "num_replicas": ".replicas.arithmetic",
    "register": ".dispatch.register",
    "register_dispatch_mode": ".dispatch.table",
    "simulated_cluster": ".simulated.simulated_cluster",
    "split_resource_pool": ".verl.pools.split",
    "update_dispatch_mode": ".dispatch.table",
}
"""Name -> its module."""

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
