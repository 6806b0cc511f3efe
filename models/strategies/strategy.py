"""What all placement strategies have in common: runs on a cluster, Placements from them, groups by their labels."""

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
"""The label of a node group, or several of them in the order of numbering; None is the whole cluster."""

NODE_GROUP = Argument("node_group", ("node_group_label",), labels)
ISOLATE = Argument("isolate_accelerator", ("isolate_gpu",), truth)


class PlacementStrategy(ABC):
    """A way to lay one component's processes over a cluster."""

    isolate_accelerator: bool

    @abstractmethod
    def runs(self, cluster: Cluster) -> Sequence[Run]:
        """The runs of its processes. Raises UnusableInput with every reason why there are none."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """The highest rank that it names."""

    @property
    def counts_nodes(self) -> bool:
        """Do its ranks number nodes, whatever these have?"""
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
        """The Placement of every process, in rank order.

        Parameters
        ----------
        cluster : a Cluster, a shorthand such as ``2x8xH100``, or how many accelerators each node has; then there are as many
            nodes as it takes.
        isolate_accelerator : whether a process sees its own accelerators only; as the strategy says if not given here.
        num_gpus_per_node, num_nodes_in_cluster, isolate_gpu : what the first generation of RLinf passed instead of a cluster.

        Raises UnusableInput (PW119) for arguments that cannot be used, and as `runs` does.
        """
        name = type(self).__name__
        for first, other, both in (
            ("cluster", "num_gpus_per_node", cluster is not None and num_gpus_per_node is not None),
            ("isolate_accelerator", "isolate_gpu", isolate_accelerator is not None and isolate_gpu is not None),
        ):
            if both:
                raise UnusableInput([error("PW119", name, f"`{first}` and `{other}` are one argument", help=f"give `{first}` alone")])
        nodes = self.reach + 1 if self.counts_nodes else None
        machines = num_gpus_per_node if cluster is None else cluster
        found = cluster_of(name, machines, num_nodes_in_cluster, self.reach + 1, nodes)
        isolate = isolate_gpu if isolate_accelerator is None else isolate_accelerator
        isolated = self.isolate_accelerator if isolate is None else truth(name, "isolate_accelerator", isolate)
        return placements(found, self.runs(found), isolated)


def selected(strategy: str, cluster: Cluster, labels: Labels) -> tuple[str, ...]:
    """The labels, each of which is a group of the cluster. Raises UnusableInput."""
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
    """Raise UnusableInput where the nodes themselves are the resource, or nobody counted the accelerators."""
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
