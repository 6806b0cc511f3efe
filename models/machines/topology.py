"""Levels of the topology, from the widest to the narrowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cluster import Cluster
    from .node import Node

LEVELS = ("zone", "rack", "nvlink_domain")
"""Levels of the tree above the node; nodes without a named domain share one."""
NODE_LEVEL, NUMA = "node", "numa"
ALL_LEVELS = (*LEVELS, NODE_LEVEL, NUMA)
"""All levels, down to the NUMA domains inside a node."""


def domain(node: Node, level: str) -> str:
    """Return the domain of a node at a level, not below the node; else ""."""
    return node.name if level == NODE_LEVEL else node.topology.get(level, "")


def path(node: Node) -> tuple[str, ...]:
    """Return the domains of a node, widest first; equal paths are neighbours at every level."""
    return tuple(domain(node, level) for level in LEVELS)


def domains(cluster: Cluster, level: str) -> tuple[str, ...]:
    """Return every domain of a level, in the order of the nodes."""
    if level == NODE_LEVEL:
        return tuple(stretch.name(offset) for stretch in cluster.alike for offset in range(stretch.count))
    return tuple(dict.fromkeys(domain(stretch.node, level) for stretch in cluster.alike))


def numa_masks(node: Node) -> tuple[int, ...]:
    """Return a bit mask of local accelerators per NUMA domain; a single one if unknown."""
    masks: dict[int, int] = {}
    for accelerator in node.accelerators:
        masks[accelerator.numa] = masks.get(accelerator.numa, 0) | 1 << accelerator.index
    return tuple(masks[numa] for numa in sorted(masks))
