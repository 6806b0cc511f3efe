"""Node of a live cluster, as Ray reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

RANK_LABEL = "placewright.node-rank"
RANK_LABELS = (RANK_LABEL, "RLINF_NODE_RANK")


@dataclass(frozen=True, slots=True)
class RayNode:
    """Live node: Ray's id, host name, address, labels, and `total` and `free` resources by Ray's
    names.

    `port`: listening port of its raylet; 0 if unknown.
    """

    node_id: str
    name: str
    address: str
    labels: Mapping[str, str]
    total: Mapping[str, float]
    free: Mapping[str, float]
    port: int = 0

    @property
    def rank(self) -> int | None:
        """Node rank from a label; None without a numeric label."""
        for label in RANK_LABELS:
            if self.labels.get(label, "").isdecimal():
                return int(self.labels[label])
        return None

    @property
    def presence(self) -> str:
        """Resource that every node has by its presence."""
        return f"node:{self.address}"
