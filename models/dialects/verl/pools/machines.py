"""The machines that the pools are laid out on: the given ones, or as many as the file speaks of."""

from __future__ import annotations

from ....accelerators import GENERIC, accelerators
from ....cluster import Cluster, Node, Nodes
from ....nodes import numbered_nodes
from ....pool_layout import machines_for
from ....shorthand import AsDeclared
from .declared import Declared


def assumed(declared: Declared, per_node: AsDeclared | None = None) -> Cluster:
    """The machines that the file speaks of; where it speaks of none, one node for each part. `per_node`: all have so many accelerators."""
    if per_node is not None and per_node.count:
        count = max(machines_for(declared.pools, per_node.count), sum(parts.count for parts in declared.nodes))
        if count:
            return _nodes([(count, per_node.count)], per_node.model)
    stated = [(parts.count, parts.size) for parts in declared.nodes]
    return _nodes(stated or [(parts.count, parts.size) for pool in declared.pools for parts in pool.parts], GENERIC)


def _nodes(stretches: list[tuple[int, int]], model: str) -> Cluster:
    found, rank = [], 0
    for count, size in stretches:
        if count:
            found.append(numbered_nodes(Node(rank, "", accelerators(size, model)), count))
            rank += count
    return Cluster(Nodes(found))
