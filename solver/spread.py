"""Processes that need no accelerator are spread evenly over the nodes of their groups, the first nodes taking the rest."""

from __future__ import annotations

from ..models.assignment import Run
from ..models.cluster import Cluster
from ..models.component import UNBOUNDED, Component
from ..models.node_group import NODE


def spread_over_nodes(cluster: Cluster, component: Component) -> tuple[Run, ...]:
    """The runs of a component whose resource is the node: as many processes as it may have, in the order of the nodes."""
    nodes = sorted(cluster.members(component.node_groups))
    count = component.most if component.most < UNBOUNDED else component.least
    share, rest = divmod(count, len(nodes)) if nodes else (0, 0)
    labels = {node: label for label in reversed(component.node_groups) for node in cluster.groups[label].node_ranks}
    runs, rank = [], 0
    for position, node in enumerate(nodes):
        size = share + (position < rest)
        if size:
            runs.append(Run(range(rank, rank + size), node, NODE, each=0, pitch=0, node_group=labels[node]))
            rank += size
    return tuple(runs)
