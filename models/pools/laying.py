"""Pools whose sizes are chosen by time, and that the framework then lays out by itself: it names no node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Iterator, Mapping

from ..machines.cluster import Cluster
from ..placements.assignment import Runs
from .layout import lay_out, rooms_of
from .pool import Parts, Pool, Reserve

MOST_TRIED = 256
"""Combinations of shapes of several pools; more are not tried."""


@dataclass(frozen=True)
class Laying:
    """The pools in the order in which the framework reserves them; those that are open have no parts.

    `reserves` are processes beside them that hold CPUs of a node.
    """

    pools: tuple[Pool, ...]
    reserves: tuple[Reserve, ...] = ()

    def laid(self, sizes: Mapping[str, int], cluster: Cluster) -> Iterator[dict[str, Runs]]:
        """The ranks of the components of every pool, for each way to give the open ones so many accelerators in equal parts.

        `sizes` are those of the open pools, by the names of their first components. Fewer and larger parts come first.
        """
        rooms = rooms_of(cluster)
        largest = max((room.free.bit_count() for room in rooms), default=0)
        nodes = sum(len(room.nodes) for room in rooms if room.free)
        shapes = [(pool.parts,) if pool.parts else tuple(_shapes(sizes[pool.components[0]], largest, nodes)) for pool in self.pools]
        for number, parts in enumerate(product(*shapes)):
            if number == MOST_TRIED:
                return
            pools = [replace(pool, parts=its) for pool, its in zip(self.pools, parts)]
            layout = lay_out(pools, rooms, self.reserves)
            if layout.short is None:
                yield {name: layout.runs(pool.name) for pool in pools for name in pool.components}


def _shapes(size: int, largest: int, nodes: int) -> Iterator[tuple[Parts, ...]]:
    """Each part has a node of its own, as one that lies beside another of its pool would be the same as a larger one."""
    for count in range(-(-size // max(largest, 1)), min(size, nodes) + 1):
        if size % count == 0:
            yield (Parts(size // count, count),)
