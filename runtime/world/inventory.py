"""What a Ray cluster has: its nodes in a fixed order, with their accelerators in all and free."""

from __future__ import annotations

import ipaddress

from ..port.node import RANK_LABEL, RANK_LABELS, RayNode
from ..port.port import Port

__all__ = ["RANK_LABEL", "RANK_LABELS", "RayNode", "inventory"]


def inventory(port: Port) -> tuple[RayNode, ...]:
    """The nodes that are alive: by rank label if there is one, else by address as a number, host name, then Ray's id."""
    return tuple(sorted(port.nodes(), key=_order))


def _order(node: RayNode) -> tuple[bool, int, int, str, str]:
    try:
        number = int(ipaddress.ip_address(node.address))
    except ValueError:
        number = 0
    return node.rank is None, node.rank or 0, number, node.name, node.node_id
