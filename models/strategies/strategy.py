"""What all placement strategies have in common: runs on a cluster, Placements from them, groups by their labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterable, Sequence, Union

from ..assignment import Run
from ..cluster import Cluster
from ..finding import Finding, UnusableInput, error
from ..node_group import CLUSTER_LABEL, NODE
from ..placement import Placement, placements

Labels = Union[str, Sequence[str], None]
"""The label of a node group, or several of them in the order of numbering; None is the whole cluster."""


class PlacementStrategy(ABC):
    """A way to lay one component's processes over a cluster."""

    @abstractmethod
    def runs(self, cluster: Cluster) -> tuple[Run, ...]:
        """The runs of its processes. Raises UnusableInput with every reason why there are none."""

    def get_placement(self, cluster: Cluster, isolate_accelerator: bool = True) -> list[Placement]:
        """The Placement of every process, in rank order. Raises UnusableInput as `runs` does."""
        return placements(cluster, self.runs(cluster), isolate_accelerator)


def refuse(findings: Iterable[Finding]) -> None:
    """Raise UnusableInput if there is any finding."""
    its = tuple(findings)
    if its:
        raise UnusableInput(its)


def whole_number(strategy: str, name: str, value: object, least: int) -> list[Finding]:
    """A finding if an argument is not a whole number of at least `least`."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return []
    message = f"`{name}` is {value!r}, but it must be a whole number of at least {least}"
    return [error("PW119", strategy, message, help=f"pass `{name}={least}` or more")]


def a_list(strategy: str, name: str, value: object) -> list[Finding]:
    """A finding if an argument is not a list or tuple."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return []
    return [error("PW119", strategy, f"`{name}` is {value!r}, but it must be a list", help=f"pass `{name}` as a list of ranks")]


def selected(strategy: str, cluster: Cluster, labels: Labels) -> tuple[str, ...]:
    """The labels, each of which is a group of the cluster. Raises UnusableInput."""
    if labels is not None and not isinstance(labels, str):
        refuse(a_list(strategy, "node group", labels))
    chosen = (CLUSTER_LABEL,) if labels is None else (labels,) if isinstance(labels, str) else tuple(labels)
    known = ", ".join(f"`{label}`" for label in cluster.groups)
    refuse(
        error("PW107", strategy, f"there is no node group `{label}`", help=f"name one of {known}")
        for label in chosen
        if label not in cluster.groups
    )
    if not chosen:
        raise UnusableInput([error("PW107", strategy, "the list of node groups is empty", help=f"name one of {known}")])
    return chosen


def need_hardware(strategy: str, cluster: Cluster, labels: tuple[str, ...]) -> None:
    """Raise UnusableInput where the nodes themselves are the resource, or nobody counted the accelerators."""
    bare = [label for label in labels if cluster.groups[label].kind == NODE]
    refuse(
        error("PW302", strategy, f"the nodes of group `{label}` have no hardware to number", help="use NodePlacementStrategy")
        for label in bare
    )
    if not cluster.counted:
        message = "nobody said how many accelerators the nodes have"
        raise UnusableInput([error("PW119", strategy, message, help="describe the cluster, such as `2x8xH100`")])
