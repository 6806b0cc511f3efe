"""Common base of placement strategies: runs on a cluster, Placements, and node group labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Sequence, SupportsIndex, Union, overload

from ..findings.finding import UnusableInput, error
from ..machines.cluster import Cluster
from ..machines.node_group import CLUSTER_LABEL, NODE
from ..placements.placement import Placement, placements
from ..placements.run import Run
from .arguments import Argument, labels, refuse, truth
from .machines import Machines, cluster_of

Labels = Union[str, Sequence[str], None]
"""Label of a node group, or labels in numbering order; None is the whole cluster."""

NODE_GROUP = Argument("node_group", ("node_group_label",), labels)
ISOLATE = Argument("isolate_accelerator", ("isolate_gpu",), truth)


class PlacementStrategy(ABC):
    """Rule that assigns the processes of a component to resources of a cluster."""

    isolate_accelerator: bool

    @abstractmethod
    def runs(self, cluster: Cluster) -> Sequence[Run]:
        """Return the runs of the component's processes.

        Raises UnusableInput with every reason against the placement.
        """

    @property
    @abstractmethod
    def reach(self) -> int:
        """Highest rank in the arguments."""

    @property
    def counts_nodes(self) -> bool:
        """True if the ranks number nodes, independent of hardware."""
        return False

    @overload
    def get_placement(self, cluster: Machines, isolate_accelerator: bool | None = None) -> list[Placement]: ...
    @overload
    def get_placement(
        self, *, num_gpus_per_node: SupportsIndex, num_nodes_in_cluster: SupportsIndex | None = None, isolate_gpu: bool | None = None
    ) -> list[Placement]: ...
    def get_placement(
        self,
        cluster: Machines | None = None,
        isolate_accelerator: bool | None = None,
        *,
        num_gpus_per_node: SupportsIndex | None = None,
        num_nodes_in_cluster: SupportsIndex | None = None,
        isolate_gpu: bool | None = None,
    ) -> list[Placement]:
        """Return the Placement of every process, in rank order.

        Parameters
        ----------
        cluster : a Cluster, a shorthand such as ``2x8xH100``, or the number of accelerators per
            node; a number or ``x8`` is extended to as many nodes as the ranks need.
        isolate_accelerator : True if a process sees only its own accelerators; default: the
            strategy's own value.
        num_gpus_per_node, num_nodes_in_cluster, isolate_gpu : arguments of RLinf's first
            generation, instead of a cluster.

        Raises UnusableInput (PW119) for arguments that cannot be used, and for the reasons of
        `runs`.
        """
        name = type(self).__name__
        for preferred, alias, both in (
            ("cluster", "num_gpus_per_node", cluster is not None and num_gpus_per_node is not None),
            ("isolate_accelerator", "isolate_gpu", isolate_accelerator is not None and isolate_gpu is not None),
        ):
            if both:
                raise UnusableInput(
                    [error("PW119", name, f"`{preferred}` and `{alias}` are one argument", help=f"give `{preferred}` alone")]
                )
        nodes = self.reach + 1 if self.counts_nodes else None
        machines = num_gpus_per_node if cluster is None else cluster
        resolved = cluster_of(name, machines, num_nodes_in_cluster, self.reach + 1, nodes)
        isolate = isolate_gpu if isolate_accelerator is None else isolate_accelerator
        isolated = self.isolate_accelerator if isolate is None else truth(name, "isolate_accelerator", isolate)
        return placements(resolved, self.runs(resolved), isolated)


def selected(strategy: str, cluster: Cluster, labels: Labels) -> tuple[str, ...]:
    """Return the labels as a tuple.

    Raises UnusableInput (PW107) for an unknown label or an empty list.
    """
    chosen = (CLUSTER_LABEL,) if labels is None else (labels,) if isinstance(labels, str) else tuple(labels)
    known = ", ".join(f"`{label}`" for label in cluster.groups)
    refuse(
        [
            error("PW107", strategy, f"there is no node group `{label}`", help=f"name one of {known}")
            for label in chosen
            if label not in cluster.groups
        ]
    )
    if not chosen:
        raise UnusableInput([error("PW107", strategy, "the list of node groups is empty", help=f"name one of {known}")])
    return chosen


def need_hardware(strategy: str, cluster: Cluster, labels: tuple[str, ...]) -> None:
    """Raise UnusableInput if nodes are the resource or accelerators were not counted."""
    bare = [label for label in labels if cluster.groups[label].kind == NODE]
    refuse(
        [
            error("PW302", strategy, f"the nodes of group `{label}` have no hardware to number", help="use NodePlacementStrategy")
            for label in bare
        ]
    )
    if not cluster.counted:
        message = "nobody said how many accelerators the nodes have"
        raise UnusableInput([error("PW119", strategy, message, help="describe the cluster, such as `2x8xH100`")])
