"""Labelled sets of nodes, and how the resources in them are numbered."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Iterator, Sequence

from ..record import dataclass

ACCELERATOR = "Accelerator"
NODE = "node"
CLUSTER_LABEL = "cluster"
NODE_LABEL = "node"


@dataclass(frozen=True, slots=True)
class EnvConfig:
    """The software of some nodes of a group: environment variables and a Python interpreter."""

    node_ranks: Sequence[int]
    env_vars: tuple[tuple[str, str], ...] = ()
    python_interpreter_path: str | None = None


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes with a label and the kind of resource that is counted in them.

    `kind` is ``Accelerator``, a hardware type such as ``Franka``, or ``node`` where the node itself is the resource.
    `node_ranks` ascend; consecutive ones are kept as a range, in whatever form they are given.
    """

    label: str
    node_ranks: Sequence[int]
    kind: str
    env_configs: tuple[EnvConfig, ...] = ()

    def __post_init__(self) -> None:
        its = self.node_ranks
        if not isinstance(its, range):
            solid = range(its[0], its[0] + len(its)) if its else range(0)
            object.__setattr__(self, "node_ranks", solid if list(its) == list(solid) else tuple(its))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive resource ranks on `nodes` consecutive nodes: on each the local indices 0 to count - 1."""

    node_rank: int
    label: str
    count: int
    nodes: int = 1

    @property
    def size(self) -> int:
        """How many resource ranks they are."""
        return self.count * self.nodes

    def on(self, offset: int) -> Stretch:
        """The part on the node `offset` ranks after the first."""
        return self if self.nodes == 1 else Stretch(self.node_rank + offset, self.label, self.count)


@dataclass(frozen=True)
class Numbering:
    """The resource ranks of one or more node groups: groups in the written order, nodes ascending, inside a node 0..n-1.

    `wide` are stretches over as many nodes as are alike, `stretches` the same node by node.
    Source of the order: RLinf, rlinf/scheduler/cluster/cluster.py, NodeGroupInfo.
    """

    kind: str
    wide: tuple[Stretch, ...]

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The resource ranks of each node."""
        return tuple(each.on(offset) for each in self.wide for offset in range(each.nodes))

    @cached_property
    def _starts(self) -> list[int]:
        """The first resource rank of each wide stretch, and the number of all."""
        return list(accumulate((each.size for each in self.wide), initial=0))

    @cached_property
    def _nodes_before(self) -> list[int]:
        return list(accumulate((each.nodes for each in self.wide), initial=0))

    @property
    def size(self) -> int:
        """How many resource ranks there are."""
        return self._starts[-1]

    @property
    def nodes(self) -> int:
        """How many nodes have some of them, one that is numbered twice counted twice."""
        return self._nodes_before[-1]

    def locate(self, rank: int) -> tuple[Stretch, int]:
        """The stretch of the node that holds a resource rank, and its local index there. Raises IndexError outside 0..size-1."""
        if not 0 <= rank < self.size:
            raise IndexError(rank)
        which = bisect_right(self._starts, rank) - 1
        offset, index = divmod(rank - self._starts[which], self.wide[which].count)
        return self.wide[which].on(offset), index

    def covered(self, start: int, stop: int) -> range:
        """The positions of the stretches that the ranks `start` to `stop` (exclusive, not empty) lie in."""
        return range(self._position(start), self._position(stop - 1) + 1)

    def _position(self, rank: int) -> int:
        which = bisect_right(self._starts, rank) - 1
        return self._nodes_before[which] + (rank - self._starts[which]) // self.wide[which].count

    def pieces(self, start: int, stop: int) -> Iterator[tuple[Stretch, int, int]]:
        """(stretch, first local index, count) for each node that the ranks `start` to `stop` (exclusive) cover."""
        for stretch, first, count in self.wide_pieces(start, stop):
            for offset in range(stretch.nodes):
                yield stretch.on(offset), first, count

    def wide_pieces(self, start: int, stop: int) -> Iterator[tuple[Stretch, int, int]]:
        """(stretch, first local index, count on each node): as `pieces`, but nodes that are covered whole come together."""
        which = bisect_right(self._starts, start) - 1 if start < stop else 0
        while start < stop:
            its = self.wide[which]
            offset, local = divmod(start - self._starts[which], its.count)
            end = min(stop, self._starts[which + 1])
            whole = 0 if local else (end - start) // its.count
            count = its.count if whole else min(end - start, its.count - local)
            yield Stretch(its.node_rank + offset, its.label, its.count, max(whole, 1)), local, count
            start += count * max(whole, 1)
            which += start == self._starts[which + 1]

    def wide_on(self, node_ranks: range) -> Iterator[tuple[Stretch, int]]:
        """(stretch over some of these nodes, its first resource rank); the numbering is that of one group, whose nodes ascend."""
        which = max(bisect_right(self.wide, node_ranks.start, key=lambda its: its.node_rank) - 1, 0)
        for position in range(which, len(self.wide)):
            its, start = self.wide[position], self._starts[position]
            if its.node_rank >= node_ranks.stop:
                return
            nodes = range(max(its.node_rank, node_ranks.start), min(its.node_rank + its.nodes, node_ranks.stop))
            if nodes:
                yield Stretch(nodes.start, its.label, its.count, len(nodes)), start + (nodes.start - its.node_rank) * its.count

    @cached_property
    def first(self) -> dict[int, int]:
        """node rank -> the resource rank of its first resource. A node that is numbered twice keeps its first."""
        result: dict[int, int] = {}
        for its, start in zip(self.wide, self._starts):
            for offset in range(its.nodes):
                result.setdefault(its.node_rank + offset, start + offset * its.count)
        return result
