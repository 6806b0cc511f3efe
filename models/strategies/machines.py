"""Cluster argument of a placement strategy, in all accepted forms."""

from __future__ import annotations

from typing import Protocol, SupportsIndex, Union

from ..findings.finding import UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.shorthand import AsDeclared, read_shorthand
from .arguments import whole_number


class OnMachines(Protocol):
    """Object with an attribute `machines`, such as the cluster object of RLinf's programs."""

    machines: Cluster


Machines = Union[Cluster, OnMachines, AsDeclared, str, SupportsIndex]
"""Cluster, object with a cluster, shorthand (``2x8xH100``, ``x8``), or accelerators per node."""

_HELP = "pass a Cluster, a shorthand such as `2x8xH100`, or `num_gpus_per_node=8`"


def cluster_of(strategy: str, machines: Machines | None, nodes: SupportsIndex | None, accelerators: int, least: int | None) -> Cluster:
    """Return the cluster; a number of accelerators per node is extended to enough nodes.

    `nodes` fixes the number of nodes; else there are as many as `accelerators` need in all, or
    `least` nodes if set. Raises UnusableInput (PW119).
    """
    machines = getattr(machines, "machines", machines)
    if isinstance(machines, str):
        try:
            machines = read_shorthand(machines)
        except ValueError as problem:
            raise UnusableInput([error("PW119", strategy, str(problem), help=_HELP)]) from None
    if isinstance(machines, Cluster):
        if nodes is not None:
            message = f"`num_nodes_in_cluster` is {nodes}, but the cluster itself has {len(machines.nodes)}"
            raise UnusableInput([error("PW119", strategy, message, help="leave `num_nodes_in_cluster` out")])
        return machines
    if machines is None:
        raise UnusableInput([error("PW119", strategy, "no cluster is given", help=_HELP)])
    per_node, model = (machines.count, f"x{machines.model}") if isinstance(machines, AsDeclared) else (machines, "")
    if not isinstance(per_node, SupportsIndex):
        raise UnusableInput([error("PW119", strategy, f"the cluster is {per_node!r:.60}, which is none", help=_HELP)])
    accelerators_per_node = whole_number(1 if least is None else 0)(strategy, "num_gpus_per_node", per_node)
    count = -(-accelerators // accelerators_per_node) if least is None else least
    if nodes is not None:
        count = whole_number(1)(strategy, "num_nodes_in_cluster", nodes)
    return cluster_of(strategy, f"{count}x{accelerators_per_node}{model}", None, accelerators, least)
