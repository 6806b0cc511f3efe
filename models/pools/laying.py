"""Pools whose sizes are chosen by time, and that the framework then lays out by itself: it names no node."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Iterator, Mapping, Sequence

from ..machines.cluster import Cluster
from ..placements.run import Runs
from ..record import dataclass
from .fit import can_fit
from .layout import Layout, Room, lay_out, rooms_of
from .pool import Parts, Pool, Reserve

MOST_TRIED = 1024
"""Layouts of the first pools, or of all, that are tried; of what needs more nobody knows whether it has room."""
Shape = tuple[Parts, ...]


@dataclass(frozen=True)
class Laying:
    """The pools in the order in which the framework reserves them; those that are open have no parts.

    `reserves` are processes beside them that hold CPUs of a node.
    """

    pools: tuple[Pool, ...]
    reserves: tuple[Reserve, ...] = ()

    def laid(self, sizes: Mapping[str, int], cluster: Cluster) -> Iterator[dict[str, Runs] | None]:
        """The ranks of the components of every pool, for each way to give the open ones so many accelerators in equal parts.

        `sizes` are those of the open pools, by the names of their first components. Fewer and larger parts come first. None is the
        last where not all ways are tried.
        """
        rooms = rooms_of(cluster)
        shapes = self._shapes(sizes, rooms)
        for number, layout in enumerate(self._layouts(shapes, (), rooms)):
            if number == MOST_TRIED:
                yield None
                return
            if len(layout.placed) == len(self.pools) and layout.short is None:
                yield {name: layout.runs(pool.name) for pool in self.pools for name in pool.components}

    def may_have_room(self, sizes: Mapping[str, int], cluster: Cluster) -> bool:
        """Is there room for some way to give the open ones so many, if the framework happens to put the parts onto the right nodes?"""
        rooms = rooms_of(cluster)
        each_shape = islice(product(*self._shapes(sizes, rooms)), MOST_TRIED)
        return any(
            can_fit([replace(pool, parts=parts) for pool, parts in zip(self.pools, its)], rooms, self.reserves) for its in each_shape
        )

    def _shapes(self, sizes: Mapping[str, int], rooms: Sequence[Room]) -> list[list[Shape]]:
        """The ways to divide each pool into equal parts."""
        return [[pool.parts] if pool.parts else list(_shapes(sizes[pool.components[0]], rooms)) for pool in self.pools]

    def _layouts(self, shapes: Sequence[Sequence[Shape]], chosen: tuple[Shape, ...], rooms: Sequence[Room]) -> Iterator[Layout]:
        """The layouts of the first pools, then of one more: what comes later never makes room for them."""
        if len(chosen) == len(shapes):
            return
        for parts in shapes[len(chosen)]:
            its = (*chosen, parts)
            layout = lay_out([replace(pool, parts=each) for pool, each in zip(self.pools, its)], rooms, self.reserves)
            yield layout
            if layout.short is None:
                yield from self._layouts(shapes, its, rooms)


def _shapes(size: int, rooms: Sequence[Room]) -> Iterator[Shape]:
    """Equal parts, the fewest first; several of them may lie on one node, which a larger part has no room beside."""
    free = [(room.free.bit_count(), len(room.nodes)) for room in rooms]
    for count in range(1, size + 1):
        if size % count == 0 and fitting(free, size // count) >= count:
            yield (Parts(size // count, count),)


def fitting(free: Sequence[tuple[int, int]], size: int) -> int:
    """How many parts of a size have room; `free` are (accelerators, nodes that have so many)."""
    return sum(accelerators // size * nodes for accelerators, nodes in free)
