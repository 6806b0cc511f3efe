"""Placement strategies of RLinf's worker groups: runs by arithmetic, Findings on refusal."""

from __future__ import annotations

from .flexible import FlexiblePlacementStrategy
from .node import NodePlacementStrategy
from .packed import PackedPlacementStrategy
from .strategy import PlacementStrategy

__all__ = ["FlexiblePlacementStrategy", "NodePlacementStrategy", "PackedPlacementStrategy", "PlacementStrategy"]
