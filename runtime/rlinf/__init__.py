"""RLinf's words: a cluster that is held once, and worker groups that are launched on it by a placement strategy.

The names are those that RLinf's programs import from ``rlinf.scheduler``, so that their import line is all that changes.
"""

from __future__ import annotations

from ...models.strategies import FlexiblePlacementStrategy, NodePlacementStrategy, PackedPlacementStrategy, PlacementStrategy
from ..workers.base import Worker
from .cluster import Cluster
from .group import WorkerGroup

__all__ = [
    "Cluster", "FlexiblePlacementStrategy", "NodePlacementStrategy", "PackedPlacementStrategy", "PlacementStrategy", "Worker", "WorkerGroup",
]  # fmt: skip
