"""How many pieces of a size some nodes have room for, each piece on one node, or inside one of its NUMA domains."""

from __future__ import annotations

from collections import Counter
from typing import Collection, Iterable

from ....models.machines.node import Node
from ....models.machines.node_group import ACCELERATOR
from ....models.machines.topology import numa_masks
from ..pool import Pool


def numa_domains(node: Node, kind: str) -> tuple[int, ...]:
    """The resources of each NUMA domain of a node as bit masks; what is no accelerator is in one domain."""
    return numa_masks(node) if kind == ACCELERATOR else (node.whole(kind),)


class Room:
    """What a pool has on some nodes: how many of its resources are on a node, or in a NUMA domain, and how often."""

    def __init__(self, pool: Pool, nodes: Iterable[Node]) -> None:
        self._pool, self._nodes = pool, tuple(nodes)
        self._on_nodes = Counter(pool.free.get(node.rank, 0).bit_count() for node in self._nodes)
        self._in_numa: Counter[int] | None = None

    @property
    def _numa(self) -> Counter[int]:
        if self._in_numa is None:
            free, kind = self._pool.free, self._pool.kind
            found = ((free.get(node.rank, 0) & mask).bit_count() for node in self._nodes for mask in numa_domains(node, kind))
            self._in_numa = Counter(found)
        return self._in_numa

    def pieces(self, size: int, inside_numa: bool = False) -> int:
        """How many pieces there is room for: the sum of floor(free / size)."""
        held = self._numa if inside_numa else self._on_nodes
        return sum(free // size * count for free, count in held.items())

    @property
    def free(self) -> Collection[int]:
        """How many resources are free on a node, every number that occurs."""
        return self._on_nodes.keys()

    def divides(self, size: int) -> bool:
        """Is what is free in every NUMA domain a multiple of the size?"""
        return not any(free % size for free in self._numa)
