"""The machines that the pools are laid out on: the given ones, or as many as the file speaks of."""

from __future__ import annotations

from typing import Sequence

from ....machines.accelerators import GENERIC, accelerators
from ....machines.cluster import Cluster, Node, Nodes
from ....machines.nodes import numbered_nodes
from ....machines.shorthand import AsDeclared
from ....pools.layout import Layout, apart, lay_out, machines_for, rooms_of
from ....pools.pool import Parts
from .declared import Declared


def assumed(declared: Declared, per_node: AsDeclared | None = None) -> tuple[Cluster, Layout]:
    """The machines that the file speaks of, and the pools on them; where it speaks of none, one node for each part.

    `per_node`: all machines have so many accelerators.
    """
    if per_node is not None and per_node.count:
        stated = sum(parts.count for parts in declared.nodes)
        count = max(machines_for(declared.pools, per_node.count), stated, *(pool.count for pool in declared.pools), 0)
        return _on(declared, nodes_of((Parts(per_node.count, count),), per_node.model))
    return _on(declared, nodes_of(declared.nodes)) if declared.nodes else one_each(declared)


def one_each(declared: Declared) -> tuple[Cluster, Layout]:
    """A node for every part, and the pools on them."""
    nodes, layout = apart(declared.pools)
    return nodes_of(nodes), layout


def _on(declared: Declared, cluster: Cluster) -> tuple[Cluster, Layout]:
    return cluster, lay_out(declared.pools, rooms_of(cluster))


def nodes_of(stretches: Sequence[Parts], model: str = GENERIC) -> Cluster:
    """A cluster of nodes with so many accelerators each; one without nodes is one of which nobody said how many it has."""
    found, rank = [], 0
    for parts in stretches:
        if parts.count:
            found.append(numbered_nodes(Node(rank, "", accelerators(parts.size, model)), parts.count))
            rank += parts.count
    return Cluster(Nodes(found), counted=bool(found))
