"""What there is: nodes in rank order, and labelled groups of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Iterable, Mapping

from .accelerators import NO_ACCELERATOR, Accelerator
from .node_group import ACCELERATOR, CLUSTER_LABEL, NODE, NODE_LABEL, NodeGroup, Numbering, Stretch


@dataclass(frozen=True, slots=True)
class Hardware:
    """A device that is not an accelerator, such as a robot: its type and its configuration as written."""

    type: str
    config: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One machine.

    `taken` is a bit mask of the local accelerator indices that other jobs hold; `memory` is host memory in MiB;
    `topology` maps a level (see topology.LEVELS) to the domain that the node is in.
    """

    rank: int
    name: str
    accelerators: tuple[Accelerator, ...] = ()
    hardware: tuple[Hardware, ...] = ()
    cpus: int | None = None
    memory: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    topology: Mapping[str, str] = field(default_factory=dict)
    taken: int = 0

    def count(self, kind: str) -> int:
        """How many resources of a kind it has; the node itself counts as one resource of kind ``node``."""
        if kind == ACCELERATOR:
            return len(self.accelerators)
        return 1 if kind == NODE else sum(device.type == kind for device in self.hardware)

    def whole(self, kind: str) -> int:
        """All its resources of a kind, as a bit mask."""
        return (1 << self.count(kind)) - 1

    def free(self, kind: str) -> int:
        """Its resources of a kind that no other job holds, as a bit mask."""
        return self.whole(kind) & ~self.taken if kind == ACCELERATOR else self.whole(kind)

    @property
    def accelerator_type(self) -> str:
        """The vendor of its accelerators, such as ``NV_GPU``; ``NO_ACCEL`` if it has none."""
        return self.accelerators[0].vendor if self.accelerators else NO_ACCELERATOR

    @property
    def accelerator_model(self) -> str:
        """The model of its accelerators, such as ``H100``; "" if it has none."""
        return self.accelerators[0].model if self.accelerators else ""

    @property
    def accelerator_memory(self) -> int | None:
        """MiB of each of its accelerators; None if unknown or there are none."""
        return self.accelerators[0].memory if self.accelerators else None


@dataclass(frozen=True)
class Cluster:
    """Nodes in rank order and the node groups that were declared.

    The groups ``cluster`` (all nodes) and ``node`` (all nodes, the node itself being the resource) always exist.
    `counted` is False where nobody said how many accelerators there are: then numbers of accelerators are unknown.
    """

    nodes: tuple[Node, ...]
    declared: tuple[NodeGroup, ...] = ()
    counted: bool = True

    @cached_property
    def groups(self) -> dict[str, NodeGroup]:
        """Every group by its label, the built-in ones last."""
        ranks = tuple(node.rank for node in self.nodes)
        found = {group.label: group for group in self.declared}
        found[CLUSTER_LABEL] = NodeGroup(CLUSTER_LABEL, ranks, self.default_kind(ranks))
        found[NODE_LABEL] = NodeGroup(NODE_LABEL, ranks, NODE)
        return found

    def default_kind(self, node_ranks: Iterable[int]) -> str:
        """What counts as the resource of nodes that no hardware was configured for: accelerators if any has some."""
        return ACCELERATOR if not self.counted or any(self.nodes[rank].accelerators for rank in node_ranks) else NODE

    def kind(self, labels: tuple[str, ...]) -> str:
        """The kind of resource that these groups hold together: the node as soon as one of them counts nodes."""
        kinds = [self.groups[label].kind for label in labels]
        return NODE if NODE in kinds else kinds[0]

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
            for rank in group.node_ranks:
                count = self.nodes[rank].count(NODE if kind == NODE else group.kind)
                if count:
                    stretches.append(Stretch(rank, label, count))
        return Numbering(kind, tuple(stretches))

    def with_groups(self, declared: Iterable[NodeGroup]) -> Cluster:
        """The same nodes with other declared groups."""
        return replace(self, declared=tuple(declared))

    def total(self, kind: str = ACCELERATOR) -> int:
        """How many resources of a kind all nodes have."""
        return sum(node.count(kind) for node in self.nodes)
