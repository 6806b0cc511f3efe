"""Cluster with nodes added or lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Collection, Sequence

from .cluster import Cluster
from .node import Node
from .node_group import EnvConfig, NodeGroup
from .topology import LEVELS

NEW = "new"
"""Domain of added nodes at every level with domains; also the prefix of their names."""


def with_nodes(cluster: Cluster, sample: Node, more: int) -> Cluster:
    """Return the cluster with `more` free nodes like the sample, in new domains."""
    before = len(cluster.nodes)
    topology = {level: NEW if level in LEVELS else name for level, name in sample.topology.items()}
    new_nodes = [replace(sample, rank=before + number, name=f"{NEW}-{number}", topology=topology, taken=0) for number in range(more)]
    groups = tuple(
        replace(group, node_ranks=(*group.node_ranks, *range(before, before + more))) if sample.rank in group.node_ranks else group
        for group in cluster.declared
    )
    return replace(cluster, nodes=(*cluster.nodes, *new_nodes), declared=groups)


def ranks_left(cluster: Cluster, lost_ranks: Collection[int]) -> dict[int, int]:
    """Return old rank -> new rank of every remaining node."""
    return {rank: position for position, rank in enumerate(rank for rank in range(len(cluster.nodes)) if rank not in lost_ranks)}


def without_nodes(cluster: Cluster, lost_ranks: Collection[int]) -> Cluster:
    """Return the cluster without the nodes of some ranks; a declared group may become empty."""
    new_ranks = ranks_left(cluster, lost_ranks)
    nodes = tuple(replace(node, rank=new_ranks[node.rank]) for node in cluster.nodes if node.rank in new_ranks)
    return Cluster(nodes, tuple(_reduce(group, new_ranks) for group in cluster.declared), cluster.counted)


def _reduce(group: NodeGroup, new_ranks: dict[int, int]) -> NodeGroup:
    software = tuple(
        EnvConfig(_ranks(config.node_ranks, new_ranks), config.env_vars, config.python_interpreter_path)
        for config in group.env_configs
        if _ranks(config.node_ranks, new_ranks)
    )
    return NodeGroup(group.label, _ranks(group.node_ranks, new_ranks), group.kind, software)


def _ranks(ranks: Sequence[int], new_ranks: dict[int, int]) -> tuple[int, ...]:
    return tuple(new_ranks[rank] for rank in ranks if rank in new_ranks)
