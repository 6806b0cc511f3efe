"""Nodes that joined a cluster: described as the nodes like them that are there already."""

from __future__ import annotations

from dataclasses import replace

from ...models.machines.cluster import Cluster
from ...models.machines.grown import with_nodes
from ...models.machines.node import Node
from ..port.node import RayNode
from ..world.matching import count, has


def with_joined(cluster: Cluster, ray: RayNode) -> Cluster | None:
    """The cluster with one more node, which is the last; None where it has no node with as many accelerators of the same kind.

    It has the physical ids, the memory and the node groups of the first node like it, and a name of its own.
    """
    like = next((node for node in cluster.nodes if count(node) == has(node, ray) and _alike(node, ray)), None)
    if like is None:
        return None
    wider = with_nodes(cluster, like, 1)
    named = replace(wider.nodes[-1], name=_name(cluster, ray))
    return replace(wider, nodes=(*wider.nodes[:-1], named))


def _alike(node: Node, ray: RayNode) -> bool:
    """Does the node of Ray have what a worker of such a node may ask for beside accelerators?"""
    return node.cpus is None or ray.total.get("CPU", 0) >= node.cpus


def _name(cluster: Cluster, ray: RayNode) -> str:
    taken = {node.name for node in cluster.nodes}
    wanted = ray.name if ray.rank is None else f"node-{ray.rank}"
    return wanted if wanted not in taken else f"{wanted}-{ray.node_id[:8]}"
