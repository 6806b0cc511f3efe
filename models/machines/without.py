"""A cluster that lost nodes: those that are left keep their names and their order, and are numbered anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from .cluster import Cluster
from .node_group import EnvConfig, NodeGroup


def ranks_left(cluster: Cluster, lost: Collection[int]) -> dict[int, int]:
    """Old rank -> new rank of every node that is not lost."""
    return {rank: position for position, rank in enumerate(rank for rank in range(len(cluster.nodes)) if rank not in lost)}


def without_nodes(cluster: Cluster, lost: Collection[int]) -> Cluster:
    """The cluster without the nodes of these ranks. A declared group may be left without any node."""
    left = ranks_left(cluster, lost)
    nodes = tuple(replace(node, rank=left[node.rank]) for node in cluster.nodes if node.rank in left)
    return Cluster(nodes, tuple(_less(group, left) for group in cluster.declared), cluster.counted)


def _less(group: NodeGroup, left: dict[int, int]) -> NodeGroup:
    software = tuple(
        EnvConfig(_ranks(its.node_ranks, left), its.env_vars, its.python_interpreter_path)
        for its in group.env_configs
        if _ranks(its.node_ranks, left)
    )
    return NodeGroup(group.label, _ranks(group.node_ranks, left), group.kind, software)


def _ranks(ranks: Sequence[int], left: dict[int, int]) -> tuple[int, ...]:
    return tuple(left[rank] for rank in ranks if rank in left)
