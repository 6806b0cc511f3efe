"""The cluster that a strategy is asked about, in any of the forms in which it may be said."""

from __future__ import annotations

from typing import Protocol, SupportsIndex, Union

from ..findings.finding import UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.shorthand import AsDeclared, read_shorthand
from .arguments import whole_number


class OnMachines(Protocol):
    """What has a Cluster as its `machines`, such as the cluster object of RLinf's programs."""

    machines: Cluster


Machines = Union[Cluster, OnMachines, AsDeclared, str, SupportsIndex]
"""A Cluster, what has one, a shorthand such as ``2x8xH100`` or ``x8``, or how many accelerators each node has."""

_HELP = "pass a Cluster, a shorthand such as `2x8xH100`, or `num_gpus_per_node=8`"


def cluster_of(strategy: str, machines: Machines | None, nodes: SupportsIndex | None, accelerators: int, least: int | None) -> Cluster:
    """The cluster. Where only the accelerators of each node are said it has `nodes` nodes, or as many as are needed.

    `accelerators` are needed in all, or `least` nodes whatever they have. Raises UnusableInput (PW119).
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
    each, model = (machines.count, f"x{machines.model}") if isinstance(machines, AsDeclared) else (machines, "")
    if not isinstance(each, SupportsIndex):
        raise UnusableInput([error("PW119", strategy, f"the cluster is {each!r:.60}, which is none", help=_HELP)])
    of_each = whole_number(1 if least is None else 0)(strategy, "num_gpus_per_node", each)
    count = -(-accelerators // of_each) if least is None else least
    if nodes is not None:
        count = whole_number(1)(strategy, "num_nodes_in_cluster", nodes)
    return cluster_of(strategy, f"{count}x{of_each}{model}", None, accelerators, least)
