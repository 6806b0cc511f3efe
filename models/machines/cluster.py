"""Cluster: nodes in rank order and labelled groups of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Iterable, Iterator, Sequence

from ..ranks import merge
from ..record import dataclass
from .node import Hardware, Node
from .node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL, NodeGroup, Numbering, Stretch
from .nodes import Alike, Nodes, parts, stretches_of

__all__ = ["Cluster", "Hardware", "Node", "Nodes"]


@dataclass(frozen=True)
class Cluster:
    """Nodes in rank order and the node groups that were declared.

    The groups ``cluster`` (all nodes) and ``node`` (all nodes, the node itself being the resource) always exist.
    `counted` is False where nobody said how many accelerators there are: then numbers of accelerators are unknown.
    """

    nodes: Sequence[Node]
    declared: tuple[NodeGroup, ...] = ()
    counted: bool = True

    @cached_property
    def groups(self) -> dict[str, NodeGroup]:
        """Every group by its label, the built-in ones last."""
        ranks = range(len(self.nodes))
        found = {group.label: group for group in self.declared}
        found[CLUSTER_LABEL] = NodeGroup(CLUSTER_LABEL, ranks, self.default_kind(ranks))
        found[NODE_LABEL] = NodeGroup(NODE_LABEL, ranks, NODE)
        return found

    def name(self, node_rank: int) -> str:
        """The name of a node."""
        return self.nodes.name(node_rank) if isinstance(self.nodes, Nodes) else self.nodes[node_rank].name

    @cached_property
    def alike(self) -> tuple[Alike, ...]:
        """The nodes as stretches of those that differ in rank and name alone."""
        return stretches_of(self.nodes)

    def alike_among(self, node_ranks: Sequence[int]) -> Iterator[tuple[Alike, range]]:
        """(nodes that are alike, the consecutive ranks of those that are meant) for these ranks, which ascend."""
        for ranks in (node_ranks,) if isinstance(node_ranks, range) else merge([range(rank, rank + 1) for rank in node_ranks]):
            yield from parts(self.alike, ranks)

    def default_kind(self, node_ranks: Sequence[int]) -> str:
        """What counts as the resource of nodes that no hardware was configured for: accelerators if any has some."""
        return ACCELERATOR if not self.counted or any(its.node.accelerators for its, _ in self.alike_among(node_ranks)) else NODE

    def kind(self, labels: tuple[str, ...]) -> str:
        """The kind of resource that these groups hold together: the node as soon as one of them counts nodes."""
        kinds = [self.groups[label].kind for label in labels]
        return NODE if NODE in kinds else kinds[0]

    def has_all(self, labels: tuple[str, ...]) -> bool:
        """Are all nodes in one of these groups?"""
        size = len(self.nodes)
        return any(len(self.groups[label].node_ranks) == size for label in labels) or len(self.members(labels)) == size

    def members(self, labels: tuple[str, ...]) -> frozenset[int]:
        """The ranks of all nodes in any of these groups."""
        return frozenset(rank for label in labels for rank in self.groups[label].node_ranks)

    def numbering(self, labels: tuple[str, ...]) -> Numbering:
        """How the resources of these groups are numbered, groups in the given order."""
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
            for alike, ranks in self.alike_among(group.node_ranks):
                count = alike.node.count(NODE if kind == NODE else group.kind)
                if count:
                    stretches.append(Stretch(ranks.start, label, count, len(ranks)))
        return Numbering(kind, tuple(stretches))

    def with_groups(self, declared: Iterable[NodeGroup]) -> Cluster:
        """The same nodes with other declared groups."""
        return replace(self, declared=tuple(declared))

    def total(self, kind: str = ACCELERATOR) -> int:
        """How many resources of a kind all nodes have."""
        return sum(its.node.count(kind) * its.count for its in self.alike)
