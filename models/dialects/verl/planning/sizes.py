"""The sizes that a pool can have on the nodes of a cluster: as many equal parts as there is room for, several on one node too."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....pools.laying import fitting
from ....pools.pool import Pool

Size = tuple[int, int]
"""(parts, accelerators of each)."""


def sizes_of(pool: Pool, cluster: Cluster) -> tuple[list[Size], list[Size]]:
    """Those that are read first, and all others, both by how many accelerators they have, the fewest first.

    The first are the size of the pool as the file has it, parts of one node, and whole nodes.
    """
    free = _free(cluster)
    most = max(free, default=0)
    own = [(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= _fitting(free, parts.size)]
    first = sorted({*own, *_whole(free)}, key=_by_count)
    every = {(parts, each) for each in range(1, most + 1) for parts in range(1, _fitting(free, each) + 1)}
    return first, sorted(every.difference(first), key=_by_count)


def _by_count(size: Size) -> tuple[int, int]:
    return size[0] * size[1], size[0]


def _free(cluster: Cluster) -> list[int]:
    """How many accelerators are free on each node that has some, the most first."""
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    return sorted((count for count in counts if count), reverse=True)


def _fitting(free: Sequence[int], each: int) -> int:
    return fitting([(count, 1) for count in free], each)


def _whole(free: Sequence[int]) -> Iterator[Size]:
    """Parts of one node, then whole ones."""
    yield from ((1, each) for each in range(1, max(free, default=0) + 1))
    yield from ((nodes, free[0]) for nodes in range(2, len(free) + 1) if free[nodes - 1] == free[0])
