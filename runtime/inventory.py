"""What a Ray cluster has: its nodes in a fixed order, with their accelerators in all and free."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any, Mapping

from .ray_compat import alive_nodes, free_resources

RANK_LABEL = "placewright.node-rank"
RANK_LABELS = (RANK_LABEL, "RLINF_NODE_RANK")


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node that is alive: Ray's id, host name and address; its labels; resources in `total` and `free` by Ray's names."""

    node_id: str
    name: str
    address: str
    labels: Mapping[str, str]
    total: Mapping[str, float]
    free: Mapping[str, float]

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


def inventory() -> tuple[RayNode, ...]:
    """The nodes that are alive: by rank label if there is one, else by address as a number, host name, then Ray's id."""
    free = free_resources()
    return tuple(sorted((_node(entry, free.get(entry["NodeID"], {})) for entry in alive_nodes()), key=_order))


def _node(entry: Mapping[str, Any], free: Mapping[str, float]) -> RayNode:
    return RayNode(
        entry["NodeID"], entry["NodeManagerHostname"], entry["NodeManagerAddress"], entry.get("Labels") or {}, entry["Resources"], free
    )


def _order(node: RayNode) -> tuple[bool, int, int, str, str]:
    try:
        number = int(ipaddress.ip_address(node.address))
    except ValueError:
        number = 0
    return node.rank is None, node.rank or 0, number, node.name, node.node_id
