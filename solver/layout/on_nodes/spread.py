"""Processes that need no accelerator are spread evenly over the nodes of their groups, the first nodes taking the rest."""

from __future__ import annotations

from typing import Sequence

from ....models.component import UNBOUNDED, Component
from ....models.machines.cluster import Cluster
from ....models.machines.node_group import NODE
from ....models.placements.run import Run
from ....models.share import Share


def spread_over_nodes(cluster: Cluster, component: Component, shares: Sequence[Share] = ()) -> tuple[Run, ...]:
    """The runs of a component whose resource is the node: as many processes as it may have, in the order of the nodes.

    `shares`: what is dealt out to it, and must come out even.
    """
    nodes = sorted(cluster.members(component.node_groups).difference(component.excluded))
    share, rest = divmod(_processes(component, shares), len(nodes)) if nodes else (0, 0)
    labels = {node: label for label in reversed(component.node_groups) for node in cluster.groups[label].node_ranks}
    runs, rank = [], 0
    for position, node in enumerate(nodes):
        size = share + (position < rest)
        if size:
            runs.append(Run(range(rank, rank + size), node, NODE, each=0, pitch=0, node_group=labels[node]))
            rank += size
    return tuple(runs)


def _processes(component: Component, shares: Sequence[Share]) -> int:
    """The most processes that it may have, the fewest where nobody says how many; with these shares even, if any number does that."""
    bounded = component.most < UNBOUNDED
    if shares:
        most = min(component.most, *(share.amount for share in shares))
        counts = [count for count in range(component.least, most + 1) if component.may_have(count)]
        even = (count for count in (reversed(counts) if bounded else counts) if all(share.divides(count) for share in shares))
        if (found := next(even, None)) is not None:
            return found
    return component.most if bounded else component.least
