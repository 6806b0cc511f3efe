"""A node of the cluster that is there, as Ray tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping

RANK_LABEL = "placewright.node-rank"
RANK_LABELS = (RANK_LABEL, "RLINF_NODE_RANK")


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node that is alive: Ray's id, host name and address; its labels; resources in `total` and `free` by Ray's names.

    `port` is where its raylet listens; 0 if that is not known.
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
        """The node rank that whoever started the node gave it as a label; None without one that is a number."""
        for label in RANK_LABELS:
            if self.labels.get(label, "").isdecimal():
                return int(self.labels[label])
        return None

    @property
    def presence(self) -> str:
        """The resource that every node has just for being there."""
        return f"node:{self.address}"
