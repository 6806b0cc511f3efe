"""Labelled sets of nodes, and how the resources in them are numbered."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Iterator

ACCELERATOR = "Accelerator"
NODE = "node"
CLUSTER_LABEL = "cluster"
NODE_LABEL = "node"


@dataclass(frozen=True, slots=True)
class EnvConfig:
    """The software of some nodes of a group: environment variables and a Python interpreter."""

    node_ranks: tuple[int, ...]
    env_vars: tuple[tuple[str, str], ...] = ()
    python_interpreter_path: str | None = None


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes with a label and the kind of resource that is counted in them.

    `kind` is ``Accelerator``, a hardware type such as ``Franka``, or ``node`` where the node itself is the resource.
    `node_ranks` ascend.
    """

    label: str
    node_ranks: tuple[int, ...]
    kind: str
    env_configs: tuple[EnvConfig, ...] = ()


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive resource ranks that lie on one node: local indices 0 to count - 1."""

    node_rank: int
    label: str
    count: int


@dataclass(frozen=True)
class Numbering:
    """The resource ranks of one or more node groups: groups in the written order, nodes ascending, inside a node 0..n-1.

    Source of the order: RLinf, rlinf/scheduler/cluster/cluster.py, NodeGroupInfo.
    """

    kind: str
    stretches: tuple[Stretch, ...]

    @cached_property
    def _starts(self) -> list[int]:
        starts, total = [], 0
        for stretch in self.stretches:
            starts.append(total)
            total += stretch.count
        return starts

    @cached_property
    def size(self) -> int:
        """How many resource ranks there are."""
        return sum(stretch.count for stretch in self.stretches)

    def locate(self, rank: int) -> tuple[Stretch, int]:
        """The stretch that holds a resource rank, and its local index there. Raises IndexError outside 0..size-1."""
        if not 0 <= rank < self.size:
            raise IndexError(rank)
        position = bisect_right(self._starts, rank) - 1
        return self.stretches[position], rank - self._starts[position]

    def covered(self, start: int, stop: int) -> range:
        """The positions of the stretches that the ranks `start` to `stop` (exclusive, not empty) lie in."""
        return range(bisect_right(self._starts, start) - 1, bisect_right(self._starts, stop - 1))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[Stretch, int, int]]:
        """(stretch, first local index, count) for each node that the ranks `start` to `stop` (exclusive) cover."""
        position = bisect_right(self._starts, start) - 1 if start < stop else 0
        while start < stop:
            stretch, local = self.stretches[position], start - self._starts[position]
            count = min(stop - start, stretch.count - local)
            yield stretch, local, count
            start, position = start + count, position + 1

    @cached_property
    def first(self) -> dict[int, int]:
        """node rank -> the resource rank of its first resource. A node that is numbered twice keeps its first."""
        result: dict[int, int] = {}
        for stretch, start in zip(self.stretches, self._starts):
            result.setdefault(stretch.node_rank, start)
        return result
