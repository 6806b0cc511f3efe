"""A plan that was made for another cluster, on the nodes that are still there."""

from __future__ import annotations

from dataclasses import replace

from ..machines.cluster import Cluster
from .assignment import Assignment
from .plan import Plan


def carried(plan: Plan, cluster: Cluster) -> Assignment:
    """Where the processes of a plan are on the nodes of another cluster that have the same names.

    Processes keep their ranks; those on nodes that are gone have no place. A run may hold resources that its node has no more.
    """
    ranks = {node.name: node.rank for node in cluster.nodes}
    runs = {}
    for name in plan.components:
        placed = ((run, ranks.get(plan.cluster.name(run.node))) for run in plan.assignment.of(name))
        runs[name] = tuple(replace(run, node=rank) for run, rank in placed if rank is not None)
    return Assignment(runs)
