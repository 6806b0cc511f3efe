"""Pools with sizes chosen by time, laid out by the framework without naming nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import Iterator, Mapping, Sequence

from ..machines.cluster import Cluster
from ..placements.run import Runs
from ..record import dataclass
from .fit import can_fit
from .layout import FreeNodes, PoolLayout, lay_out, rooms_of
from .pool import Pool, PoolParts, Reserve

MOST_TRIED = 1024
"""Limit on tried layouts; feasibility beyond is unknown."""
Shape = tuple[PoolParts, ...]


@dataclass(frozen=True)
class Laying:
    """Pools in the framework's order of reservation; open pools have no parts.

    `reserves` are processes outside of the pools with reserved CPUs of a node.
    """

    pools: tuple[Pool, ...]
    reserves: tuple[Reserve, ...] = ()

    def laid(self, sizes: Mapping[str, int], cluster: Cluster) -> Iterator[dict[str, Runs] | None]:
        """Yield component -> ranks for every division of the open pools into equal parts.

        `sizes` are those of the open pools, by the names of their first components. Fewer and
        larger parts come first. The last item is None if not all divisions are tried.
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
        """Return True if some division fits, with the parts on the best nodes.

        The framework may choose other nodes.
        """
        rooms = rooms_of(cluster)
        shapes = islice(product(*self._shapes(sizes, rooms)), MOST_TRIED)
        return any(
            can_fit([replace(pool, parts=parts) for pool, parts in zip(self.pools, shape)], rooms, self.reserves) for shape in shapes
        )

    def _shapes(self, sizes: Mapping[str, int], rooms: Sequence[FreeNodes]) -> list[list[Shape]]:
        """Return the divisions of every pool into equal parts."""
        return [[pool.parts] if pool.parts else list(_shapes(sizes[pool.components[0]], rooms)) for pool in self.pools]

    def _layouts(self, shapes: Sequence[Sequence[Shape]], chosen: tuple[Shape, ...], rooms: Sequence[FreeNodes]) -> Iterator[PoolLayout]:
        """Yield the layouts of the first pools, extended pool by pool.

        Later pools never free capacity for earlier ones.
        """
        if len(chosen) == len(shapes):
            return
        for parts in shapes[len(chosen)]:
            extended = (*chosen, parts)
            layout = lay_out([replace(pool, parts=shape) for pool, shape in zip(self.pools, extended)], rooms, self.reserves)
            yield layout
            if layout.short is None:
                yield from self._layouts(shapes, extended, rooms)


def _shapes(size: int, rooms: Sequence[FreeNodes]) -> Iterator[Shape]:
    """Yield equal parts, the fewest first.

    Several parts may lie on one node, beside which a larger part does not fit.
    """
    free = [(room.free.bit_count(), len(room.nodes)) for room in rooms]
    for count in range(1, size + 1):
        if size % count == 0 and fitting(free, size // count) >= count:
            yield (PoolParts(size // count, count),)


def fitting(free: Sequence[tuple[int, int]], size: int) -> int:
    """Return how many parts of a size fit; `free` are (accelerators, nodes with so many)."""
    return sum(accelerators // size * nodes for accelerators, nodes in free)
