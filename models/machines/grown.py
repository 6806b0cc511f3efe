"""A cluster with more nodes: they come last, and belong to the groups that nodes like them are in."""

from __future__ import annotations

from dataclasses import replace

from .cluster import Cluster
from .node import Node
from .topology import LEVELS

NEW = "new"
"""The domain of added nodes at each level at which the others have one; their names begin with it too."""


def with_nodes(cluster: Cluster, sample: Node, more: int) -> Cluster:
    """The cluster with so many more nodes like the sample, wholly free, in new domains of their own.

    They are in every declared group that the node of the sample's rank is in.
    """
    before = len(cluster.nodes)
    topology = {level: NEW if level in LEVELS else name for level, name in sample.topology.items()}
    added = [replace(sample, rank=before + number, name=f"{NEW}-{number}", topology=topology, taken=0) for number in range(more)]
    groups = tuple(
        replace(group, node_ranks=(*group.node_ranks, *range(before, before + more))) if sample.rank in group.node_ranks else group
        for group in cluster.declared
    )
    return replace(cluster, nodes=(*cluster.nodes, *added), declared=groups)
