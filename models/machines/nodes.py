"""Compact sequence of nodes: alike nodes are stored once and expanded on access."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import fields, replace
from itertools import accumulate
from typing import Iterable, Iterator, Sequence, overload

from ..record import dataclass
from .node import Node

_ALIKE = tuple(field.name for field in fields(Node) if field.name not in ("rank", "name"))


@dataclass(frozen=True, slots=True)
class Alike:
    """Stretch of `count` consecutive nodes that differ only in rank and name.

    `node` is the first node. The others have the names `prefix` followed by the numbers after
    `number`.
    """

    node: Node
    count: int = 1
    prefix: str = ""
    number: int = 0

    @property
    def stop(self) -> int:
        """Rank after the last node."""
        return self.node.rank + self.count

    def name(self, offset: int) -> str:
        """Return the name of the node `offset` ranks after the first."""
        return f"{self.prefix}{self.number + offset}" if offset else self.node.name

    def at(self, offset: int) -> Node:
        """Return the node `offset` ranks after the first."""
        first = self.node
        if not offset:
            return first
        return Node(
            first.rank + offset, self.name(offset), first.accelerators, first.hardware,
            first.cpus, first.memory, first.labels, first.topology, first.taken,
        )  # fmt: skip

    def cut(self, start: int, stop: int) -> Alike:
        """Return the stretch from rank `start` to `stop` (exclusive), inside this stretch."""
        offset = start - self.node.rank
        return Alike(self.at(offset), stop - start, self.prefix, self.number + offset)


def numbered_nodes(node: Node, count: int, prefix: str = "node-", number: int | None = None) -> Alike:
    """Return `count` nodes like `node`, named by rank, or from `number` on."""
    first = node.rank if number is None else number
    return Alike(replace(node, name=f"{prefix}{first}"), count, prefix, first)


class Nodes(Sequence[Node]):
    """Nodes of consecutive ranks, in order; equal to any sequence of the same nodes."""

    __slots__ = ("_starts", "alike")
    alike: tuple[Alike, ...]
    """Stretches of alike nodes, in rank order."""

    def __init__(self, alike: Iterable[Alike]) -> None:
        self.alike = tuple(alike)
        self._starts = list(accumulate((stretch.count for stretch in self.alike), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        if isinstance(index, slice):
            positions = range(len(self))[index]
            if positions.step != 1:
                return tuple(self[position] for position in positions)
            first = self.alike[0].node.rank if self.alike else 0
            return self._cut(range(first + positions.start, first + positions.stop))
        position, offset = self._where(index)
        return self.alike[position].at(offset)

    def _cut(self, ranks: range) -> Nodes:
        return Nodes(stretch.cut(part.start, part.stop) for stretch, part in parts(self.alike, ranks))

    def name(self, index: int) -> str:
        """Return the name of a node without building the node."""
        position, offset = self._where(index)
        return self.alike[position].name(offset)

    def _where(self, index: int) -> tuple[int, int]:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"node {index} of {len(self)}")
        stretch = bisect_right(self._starts, position) - 1
        return stretch, position - self._starts[stretch]

    def __iter__(self) -> Iterator[Node]:
        return (stretch.at(offset) for stretch in self.alike for offset in range(stretch.count))

    def __eq__(self, value: object) -> bool:
        if isinstance(value, Nodes) and self.alike == value.alike:
            return True
        if not isinstance(value, (Nodes, tuple, list)):
            return NotImplemented
        return len(self) == len(value) and all(left == right for left, right in zip(self, value))

    def __repr__(self) -> str:
        return f"Nodes({list(self.alike)!r})"

    def changed(self, nodes: Iterable[Node]) -> Nodes:
        """Return the nodes with some replaced, by rank."""
        stretches: list[Alike] = []
        done = self.alike[0].node.rank if self.alike else 0
        for node in sorted(nodes, key=lambda node: node.rank):
            stretches += [*self._cut(range(done, node.rank)).alike, Alike(node)]
            done = node.rank + 1
        return Nodes([*stretches, *self._cut(range(done, self.alike[-1].stop)).alike]) if self.alike else self


def stretches_of(nodes: Sequence[Node]) -> tuple[Alike, ...]:
    """Return the nodes of any sequence as stretches of alike nodes.

    Names are not compared, so only the first node of each stretch may be asked for.
    """
    stretches: list[Alike] = []
    for stretch in nodes.alike if isinstance(nodes, Nodes) else map(Alike, nodes):
        if stretches and _are_alike(stretches[-1].node, stretch.node):
            stretches[-1] = Alike(stretches[-1].node, stretches[-1].count + stretch.count)
        else:
            stretches.append(stretch)
    return tuple(stretches)


def parts(alike: Sequence[Alike], ranks: range) -> Iterator[tuple[Alike, range]]:
    """Yield (stretch, overlap) for stretches in a range of ranks."""
    position = max(bisect_right(alike, ranks.start, key=lambda stretch: stretch.node.rank) - 1, 0)
    while position < len(alike) and alike[position].node.rank < ranks.stop:
        part = range(max(ranks.start, alike[position].node.rank), min(ranks.stop, alike[position].stop))
        if part:
            yield alike[position], part
        position += 1


def _are_alike(left: Node, right: Node) -> bool:
    return all(getattr(left, name) is getattr(right, name) or getattr(left, name) == getattr(right, name) for name in _ALIKE)
