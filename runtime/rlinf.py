"""RLinf's interface: a cluster reserved once, and worker groups on it.

The names are those that RLinf's programs import from ``rlinf.scheduler``, so that only the import
line changes.
"""

from __future__ import annotations

from typing import NoReturn

from .compat.rlinf.cluster import Cluster
from .compat.rlinf.components import ComponentPlacement, HybridComponentPlacement
from .compat.rlinf.group import WorkerGroup
from .compat.rlinf.machines import NodeInfo
from .compat.rlinf.results import WorkerGroupFuncResult
from .compat.rlinf.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy, PlacementStrategy
from .workers.inside.base import Worker
from .workers.inside.information import HardwareInfo, WorkerAddress, WorkerInfo

__all__ = [
    "Cluster", "ComponentPlacement", "FlexiblePlacementStrategy", "HardwareInfo", "HybridComponentPlacement", "NodeInfo",
    "NodePlacementStrategy", "PackedPlacementStrategy", "PlacementStrategy", "Worker", "WorkerAddress", "WorkerGroup",
    "WorkerGroupFuncResult", "WorkerInfo",
]  # fmt: skip

_DATA = "placewright moves no data between workers: use `torch.distributed`, or Ray"
_MODES = "`placewright verify` computes the placements of every mode: launch its plan, or use ComponentPlacement"
_ELSEWHERE = {
    **dict.fromkeys(("Channel", "ChannelWorker", "WeightedItem", "CollectiveGroupOptions", "CommMapper"), _DATA),
    **dict.fromkeys(("ModelParallelComponentPlacement", "ModelParallelEvalComponentPlacement"), _MODES),
    "Tracer": "placewright keeps no traces",
    "ClusterConfig": "`Cluster(cluster_cfg=...)` takes RLinf's `cluster` section as a map",
}
"""Names of ``rlinf.scheduler`` missing here -> the reason and the alternative."""


def __getattr__(name: str) -> NoReturn:
    if name in _ELSEWHERE:
        raise ImportError(f"RLinf's `{name}` is not here: {_ELSEWHERE[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
