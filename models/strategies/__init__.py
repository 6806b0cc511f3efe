"""Placement strategies as RLinf's worker groups take them, each computed by arithmetic and refused with Findings."""

from __future__ import annotations

from .flexible import FlexiblePlacementStrategy
from .node import NodePlacementStrategy
from .packed import PackedPlacementStrategy
from .strategy import PlacementStrategy

__all__ = ["FlexiblePlacementStrategy", "NodePlacementStrategy", "PackedPlacementStrategy", "PlacementStrategy"]
