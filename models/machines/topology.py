"""Where a node is, and what it is made of: the levels of the topology from the widest to the narrowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster
    from .node import Node

LEVELS = ("zone", "rack", "nvlink_domain")
"""Levels of the topology tree above the node. A node that names no domain of a level shares one unnamed domain."""
NODE_LEVEL, NUMA = "node", "numa"
ALL_LEVELS = (*LEVELS, NODE_LEVEL, NUMA)
"""All levels, down to the NUMA domains inside a node."""


def domain(node: Node, level: str) -> str:
    """The domain of this level, not below the node, that the node is in; "" for the unnamed one."""
    return node.name if level == NODE_LEVEL else node.topology.get(level, "")


def path(node: Node) -> tuple[str, ...]:
    """The node's domains from the widest level down; nodes with the same path are neighbours at every level."""
    return tuple(domain(node, level) for level in LEVELS)


def domains(cluster: Cluster, level: str) -> tuple[str, ...]:
    """Every domain of a level, in the order of the nodes."""
    if level == NODE_LEVEL:
        return tuple(its.name(offset) for its in cluster.alike for offset in range(its.count))
    return tuple(dict.fromkeys(domain(its.node, level) for its in cluster.alike))


def numa_masks(node: Node) -> tuple[int, ...]:
    """The local accelerator indices of each NUMA domain of the node as a bit mask; one mask where nothing is known of NUMA."""
    masks: dict[int, int] = {}
    for accelerator in node.accelerators:
        masks[accelerator.numa] = masks.get(accelerator.numa, 0) | 1 << accelerator.index
    return tuple(masks[numa] for numa in sorted(masks))
