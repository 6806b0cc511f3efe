"""Labelled sets of nodes, and the numbering of resources in them."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Iterator, Sequence

from ..record import cached_property, dataclass

ACCELERATOR = "Accelerator"
NODE = "node"
CLUSTER_LABEL = "cluster"
NODE_LABEL = "node"


@dataclass(frozen=True, slots=True)
class EnvConfig:
    """Software of some nodes of a group: environment variables and a Python interpreter."""

    node_ranks: Sequence[int]
    env_vars: tuple[tuple[str, str], ...] = ()
    python_interpreter_path: str | None = None


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Labelled nodes and their kind of resource.

    `kind` is ``Accelerator``, a hardware type such as ``Franka``, or ``node`` if the node itself is
    the resource. `node_ranks` ascend; consecutive ranks are stored as a range, in whatever form
    they are given.
    """

    label: str
    node_ranks: Sequence[int]
    kind: str
    env_configs: tuple[EnvConfig, ...] = ()

    def __post_init__(self) -> None:
        ranks = self.node_ranks
        if not isinstance(ranks, range):
            solid = range(ranks[0], ranks[0] + len(ranks)) if ranks else range(0)
            object.__setattr__(self, "node_ranks", solid if list(ranks) == list(solid) else tuple(ranks))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive resource ranks on `nodes` nodes, local indices 0 to count - 1 per node."""

    node_rank: int
    label: str
    count: int
    nodes: int = 1

    @property
    def size(self) -> int:
        """Number of resource ranks."""
        return self.count * self.nodes

    def on(self, offset: int) -> Stretch:
        """Return the part on the node `offset` ranks after the first."""
        return self if self.nodes == 1 else Stretch(self.node_rank + offset, self.label, self.count)


@dataclass(frozen=True)
class Numbering:
    """Resource ranks of node groups: groups as written, nodes ascending, inside a node 0..n-1.

    `wide` are stretches over alike nodes, `stretches` the same node by node.
    Source of the order: RLinf, rlinf/scheduler/cluster/cluster.py, NodeGroupInfo.
    """

    kind: str
    wide: tuple[Stretch, ...]

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Resource ranks node by node."""
        return tuple(wide.on(offset) for wide in self.wide for offset in range(wide.nodes))

    @cached_property
    def _starts(self) -> list[int]:
        """First resource ranks of the wide stretches, then the total."""
        return list(accumulate((wide.size for wide in self.wide), initial=0))

    @property
    def size(self) -> int:
        """Number of resource ranks."""
        return self._starts[-1]

    @property
    def nodes(self) -> int:
        """Number of nodes with resources; a node numbered twice counts twice."""
        return sum(wide.nodes for wide in self.wide)

    def locate(self, rank: int) -> tuple[Stretch, int]:
        """Return (stretch of the node, local index) of a resource rank. Raises IndexError."""
        if not 0 <= rank < self.size:
            raise IndexError(rank)
        position = bisect_right(self._starts, rank) - 1
        offset, index = divmod(rank - self._starts[position], self.wide[position].count)
        return self.wide[position].on(offset), index

    def pieces(self, start: int, stop: int) -> Iterator[tuple[Stretch, int, int]]:
        """Yield (stretch, first local index, count) per node of a half-open range of ranks."""
        for stretch, first, count in self.wide_pieces(start, stop):
            for offset in range(stretch.nodes):
                yield stretch.on(offset), first, count

    def wide_pieces(self, start: int, stop: int) -> Iterator[tuple[Stretch, int, int]]:
        """Yield (stretch, first local index, count per node); nodes covered whole come together."""
        position = bisect_right(self._starts, start) - 1 if start < stop else 0
        while start < stop:
            wide = self.wide[position]
            offset, local = divmod(start - self._starts[position], wide.count)
            end = min(stop, self._starts[position + 1])
            whole = 0 if local else (end - start) // wide.count
            count = wide.count if whole else min(end - start, wide.count - local)
            yield Stretch(wide.node_rank + offset, wide.label, wide.count, max(whole, 1)), local, count
            start += count * max(whole, 1)
            position += start == self._starts[position + 1]

    def wide_on(self, node_ranks: range) -> Iterator[tuple[Stretch, int]]:
        """Yield (stretch over some nodes, first resource rank) in the numbering of one group."""
        first_position = max(bisect_right(self.wide, node_ranks.start, key=lambda wide: wide.node_rank) - 1, 0)
        for position in range(first_position, len(self.wide)):
            wide, start = self.wide[position], self._starts[position]
            if wide.node_rank >= node_ranks.stop:
                return
            nodes = range(max(wide.node_rank, node_ranks.start), min(wide.node_rank + wide.nodes, node_ranks.stop))
            if nodes:
                yield Stretch(nodes.start, wide.label, wide.count, len(nodes)), start + (nodes.start - wide.node_rank) * wide.count

    @cached_property
    def first_in(self) -> dict[tuple[int, str], int]:
        """(Node rank, label) -> resource rank of the node's first resource, at its first occurrence."""
        result: dict[tuple[int, str], int] = {}
        for wide, start in zip(self.wide, self._starts):
            for offset in range(wide.nodes):
                result.setdefault((wide.node_rank + offset, wide.label), start + offset * wide.count)
        return result

    @cached_property
    def first(self) -> dict[int, int]:
        """Node rank -> resource rank of the node's first resource, at its first occurrence."""
        return {node: start for (node, _), start in reversed(self.first_in.items())}
