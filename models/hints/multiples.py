"""Whole numbers of replicas that a component may ask for instead of a count that holds none."""

from __future__ import annotations

from ..component import Component, Parallel
from ..findings.wording import are, with_noun
from ..machines.cluster import Cluster
from ..machines.node_group import ACCELERATOR
from .levels import LET_OVER_NODES


def multiples(component: Component, parallel: Parallel, step: int, cluster: Cluster) -> str:
    """The multiples of `step` around what it asks for, of which there are enough accelerators, and a node with a whole tp group."""
    nodes = [cluster.nodes[rank].count(ACCELERATOR) for rank in cluster.members(component.node_groups)] if cluster.counted else []
    around = [count for count in (component.least // step * step, -(-component.least // step) * step) if count]
    fit = [str(count) for count in around if not nodes or count <= sum(nodes)]
    if not fit:
        return f"lower its degrees: there {are(sum(nodes))} {with_noun(sum(nodes), 'accelerator')}"
    asked = f"ask for {' or '.join(fit)}"
    if component.keep or not nodes or parallel.tp <= max(nodes):
        return asked
    return f"lower its degrees, or {asked} and {LET_OVER_NODES}"
