"""Where a node is: the levels of the network above it, from the widest to the narrowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster, Node

LEVELS = ("rack", "nvlink_domain")
"""Levels of the topology tree above the node. A node that names no domain of a level shares one unnamed domain."""


def domain(node: Node, level: str) -> str:
    """The domain of this level that the node is in; "" for the unnamed one."""
    return node.topology.get(level, "")


def path(node: Node) -> tuple[str, ...]:
    """The node's domains from the widest level down; nodes with the same path are neighbours at every level."""
    return tuple(domain(node, level) for level in LEVELS)


def domains(cluster: Cluster, level: str) -> tuple[str, ...]:
    """Every domain of a level, in the order of the nodes."""
    return tuple(dict.fromkeys(domain(node, level) for node in cluster.nodes))
