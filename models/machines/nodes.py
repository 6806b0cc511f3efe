"""Many nodes in little room: those that differ in rank and name alone are kept as one, and made when they are asked for."""

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
    """`count` consecutive nodes that differ in rank and name alone; `node` is the first of them.

    The others have the names `prefix` followed by the numbers after `number`.
    """

    node: Node
    count: int = 1
    prefix: str = ""
    number: int = 0

    @property
    def stop(self) -> int:
        """The rank after the last of them."""
        return self.node.rank + self.count

    def name(self, offset: int) -> str:
        """The name of the node `offset` ranks after the first."""
        return f"{self.prefix}{self.number + offset}" if offset else self.node.name

    def at(self, offset: int) -> Node:
        """The node `offset` ranks after the first."""
        its = self.node
        if not offset:
            return its
        return Node(
            its.rank + offset, self.name(offset), its.accelerators, its.hardware, its.cpus, its.memory, its.labels, its.topology, its.taken
        )  # fmt: skip

    def cut(self, start: int, stop: int) -> Alike:
        """Those with the ranks `start` to `stop` (exclusive), which must be some of them."""
        offset = start - self.node.rank
        return Alike(self.at(offset), stop - start, self.prefix, self.number + offset)


def numbered_nodes(node: Node, count: int, prefix: str = "node-", number: int | None = None) -> Alike:
    """`count` nodes like this one from its rank on, named by their ranks (or from `number` on)."""
    first = node.rank if number is None else number
    return Alike(replace(node, name=f"{prefix}{first}"), count, prefix, first)


class Nodes(Sequence[Node]):
    """Nodes of consecutive ranks, in their order. It equals any sequence of the same nodes."""

    __slots__ = ("_starts", "alike")
    alike: tuple[Alike, ...]
    """The nodes as stretches of alike ones, in rank order."""

    def __init__(self, alike: Iterable[Alike]) -> None:
        self.alike = tuple(alike)
        self._starts = list(accumulate((each.count for each in self.alike), initial=0))

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
        which, offset = self._where(index)
        return self.alike[which].at(offset)

    def _cut(self, ranks: range) -> Nodes:
        return Nodes(each.cut(its.start, its.stop) for each, its in parts(self.alike, ranks))

    def name(self, index: int) -> str:
        """The name of a node, without the node itself being made."""
        which, offset = self._where(index)
        return self.alike[which].name(offset)

    def _where(self, index: int) -> tuple[int, int]:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"node {index} of {len(self)}")
        which = bisect_right(self._starts, position) - 1
        return which, position - self._starts[which]

    def __iter__(self) -> Iterator[Node]:
        return (each.at(offset) for each in self.alike for offset in range(each.count))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Nodes) and self.alike == other.alike:
            return True
        if not isinstance(other, (Nodes, tuple, list)):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other))

    def __repr__(self) -> str:
        return f"Nodes({list(self.alike)!r})"

    def changed(self, nodes: Iterable[Node]) -> Nodes:
        """The same nodes but for these, which take the places of their ranks."""
        found: list[Alike] = []
        done = self.alike[0].node.rank if self.alike else 0
        for node in sorted(nodes, key=lambda node: node.rank):
            found += [*self._cut(range(done, node.rank)).alike, Alike(node)]
            done = node.rank + 1
        return Nodes([*found, *self._cut(range(done, self.alike[-1].stop)).alike]) if self.alike else self


def stretches_of(nodes: Sequence[Node]) -> tuple[Alike, ...]:
    """The nodes of any sequence as stretches of alike ones; names are not looked at, so only the first node of each may be asked for."""
    found: list[Alike] = []
    for each in nodes.alike if isinstance(nodes, Nodes) else map(Alike, nodes):
        if found and _are_alike(found[-1].node, each.node):
            found[-1] = Alike(found[-1].node, found[-1].count + each.count)
        else:
            found.append(each)
    return tuple(found)


def parts(alike: Sequence[Alike], ranks: range) -> Iterator[tuple[Alike, range]]:
    """(stretch, which of its ranks) for every stretch that some of these consecutive ranks lie in."""
    position = max(bisect_right(alike, ranks.start, key=lambda each: each.node.rank) - 1, 0)
    while position < len(alike) and alike[position].node.rank < ranks.stop:
        its = range(max(ranks.start, alike[position].node.rank), min(ranks.stop, alike[position].stop))
        if its:
            yield alike[position], its
        position += 1


def _are_alike(one: Node, other: Node) -> bool:
    return all(getattr(one, name) is getattr(other, name) or getattr(one, name) == getattr(other, name) for name in _ALIKE)
