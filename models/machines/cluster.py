"""Cluster: nodes in rank order and labelled groups of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Iterator, Sequence

from ..ranks import merge
from ..record import cached_property, dataclass
from .node import EqualNodes, Hardware, Node, Nodes, parts, stretches_of
from .node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL, NodeGroup, Numbering, Stretch

__all__ = ["Cluster", "Hardware", "Node", "Nodes"]


@dataclass(frozen=True)
class Cluster:
    """Nodes in rank order and the declared node groups.

    The groups ``cluster`` (all nodes) and ``node`` (all nodes, the node itself as the resource)
    always exist. `counted` is False if the number of accelerators is unknown.
    """

    nodes: Sequence[Node]
    declared: tuple[NodeGroup, ...] = ()
    counted: bool = True

    @cached_property
    def groups(self) -> dict[str, NodeGroup]:
        """Every group by label, the built-in groups last."""
        ranks = range(len(self.nodes))
        groups = {group.label: group for group in self.declared}
        groups[CLUSTER_LABEL] = NodeGroup(CLUSTER_LABEL, ranks, self.default_kind(ranks))
        groups[NODE_LABEL] = NodeGroup(NODE_LABEL, ranks, NODE)
        return groups

    def name(self, node_rank: int) -> str:
        """Return the name of a node."""
        return self.nodes.name(node_rank) if isinstance(self.nodes, Nodes) else self.nodes[node_rank].name

    @cached_property
    def alike(self) -> tuple[EqualNodes, ...]:
        """Stretches of nodes that differ only in rank and name."""
        return stretches_of(self.nodes)

    def alike_among(self, node_ranks: Sequence[int]) -> Iterator[tuple[EqualNodes, range]]:
        """Return pairs (stretch of alike nodes, requested ranks in it) for ascending ranks."""
        if isinstance(node_ranks, range):
            return parts(self.alike, node_ranks)
        return (part for ranks in merge([range(rank, rank + 1) for rank in node_ranks]) for part in parts(self.alike, ranks))

    def default_kind(self, node_ranks: Sequence[int]) -> str:
        """Return the resource of nodes without configured hardware: accelerators if any."""
        return ACCELERATOR if not self.counted or any(stretch.node.accelerators for stretch, _ in self.alike_among(node_ranks)) else NODE

    def kind(self, labels: tuple[str, ...]) -> str:
        """Return the common resource of groups: the node if any group counts nodes."""
        groups = self.groups
        kind = groups[labels[0]].kind
        return kind if len(labels) == 1 or all(groups[label].kind != NODE for label in labels) else NODE

    def has_all(self, labels: tuple[str, ...]) -> bool:
        """Return True if the groups contain all nodes."""
        size = len(self.nodes)
        return any(len(self.groups[label].node_ranks) == size for label in labels) or len(self.members(labels)) == size

    def members(self, labels: tuple[str, ...]) -> frozenset[int]:
        """Return the ranks of all nodes in the groups."""
        return frozenset(rank for label in labels for rank in self.groups[label].node_ranks)

    def numbering(self, labels: tuple[str, ...]) -> Numbering:
        """Return the resource numbering of the groups, in the given order."""
        if labels not in self._numberings:
            self._numberings[labels] = self._number(labels)
        return self._numberings[labels]

    @cached_property
    def _numberings(self) -> dict[tuple[str, ...], Numbering]:
        return {}

    def _number(self, labels: tuple[str, ...]) -> Numbering:
        kind = self.kind(labels)
        stretches = []
        for label in labels:
            group = self.groups[label]
            for stretch, ranks in self.alike_among(group.node_ranks):
                count = stretch.node.count(NODE if kind == NODE else group.kind)
                if count:
                    stretches.append(Stretch(ranks.start, label, count, len(ranks)))
        return Numbering(kind, tuple(stretches))

    def with_groups(self, groups: Iterable[NodeGroup]) -> Cluster:
        """Return the cluster with new declared groups."""
        return replace(self, declared=tuple(groups))

    def total(self, kind: str = ACCELERATOR) -> int:
        """Return the number of resources of a kind on all nodes."""
        return sum(stretch.node.count(kind) * stretch.count for stretch in self.alike)
