"""Cut: capacity of a domain by piece size.

Fragments of a domain are useful only to small pieces.
"""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import ClassVar, Iterator, Sequence

from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import NodePool
from ..model.variables import Variables
from ..objectives.domains import bundle_touches, rooms_of
from .domains_of_subsets import MOST_BUNDLES, weighed

SCARCE = 90
"""Demand, in percent of the capacity for large pieces, from which the cut is posted.

With less demand there are good answers without the fragments, and the rows are a burden (measured
with 4096 accelerators, a sixth or a third of the nodes held in part, three levels of demand).
"""


class RoomBySize:
    """Limit on large and small pieces in a domain, by the fragments in use.

    For every domain, size, and set of bundles with smaller pieces: resources of large and small
    pieces <= capacity for pieces of that size + for each small bundle present, the additional
    capacity for pieces of its own size.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        for level in LEVELS:
            for name, large, small, room in rows(variables.layout, level):
                loads = [variables.accelerators_in(bundle, level, name) for bundle in (*large, *small)]
                extra = [further * bundle_touches(variables, bundle, level, name) for bundle, further in small.items()]
                variables.at_most(variables.total(loads), room + variables.total(extra))


def rows(layout: Layout, level: str) -> Iterator[tuple[str, Sequence[Bundle], dict[Bundle, int], int]]:
    """Yield (domain, large bundles, small bundle -> additional capacity, large capacity)."""
    costly = weighed(layout, level)
    for pool in layout.pools:
        bundles = [bundle for bundle in pool.counted if bundle in costly][:MOST_BUNDLES]
        for size in sorted({bundle.whole(level) for bundle in bundles})[1:]:
            large = [bundle for bundle in bundles if bundle.whole(level) >= size]
            small = [bundle for bundle in bundles if bundle.whole(level) < size]
            if _is_chain(large, small, level) and is_scarce(layout, pool, large, level):
                yield from _rows(layout, large, small, level)


def _is_chain(large: Sequence[Bundle], small: Sequence[Bundle], level: str) -> bool:
    """Return True if every small piece divides all larger pieces.

    Then the smallest piece in a domain decides the total capacity.
    """
    sizes = sorted(bundle.unit for bundle in small)
    return (
        all(bundle.whole(level) == bundle.unit for bundle in small)
        and all(larger % smaller == 0 for smaller, larger in zip(sizes, sizes[1:]))
        and all(bundle.unit % sizes[-1] == 0 for bundle in large)
    )


def is_scarce(layout: Layout, pool: NodePool, large: Sequence[Bundle], level: str) -> bool:
    """Return True if demand reaches `SCARCE` percent of the large pieces' capacity.

    The demand is that of all bundles allowed on some node of the large pieces.
    """
    rooms, nodes = rooms_of(layout), {rank for bundle in large for rank in layout.eligible[bundle]}
    demand = sum(bundle.least * bundle.unit for bundle in pool.counted if not nodes.isdisjoint(layout.eligible[bundle]))
    return 100 * demand >= SCARCE * sum(_room(layout, large, level, name) for name in rooms.names(level))


def _rows(
    layout: Layout, large: Sequence[Bundle], small: Sequence[Bundle], level: str
) -> Iterator[tuple[str, Sequence[Bundle], dict[Bundle, int], int]]:
    rooms = rooms_of(layout)
    for name in rooms.names(level):
        here = [bundle for bundle in large if rooms.most(bundle, level, name)]
        few = [bundle for bundle in small if rooms.most(bundle, level, name)] if here else []
        room = _room(layout, here, level, name)
        for count in range(1, len(few) + 1):
            for members in combinations(few, count):
                yield name, here, {member: _room(layout, [*here, member], level, name) - room for member in members}, room


def _room(layout: Layout, bundles: Sequence[Bundle], level: str, name: str) -> int:
    """Return an upper bound on the domain's resources for these bundles.

    The bound is a multiple of the common divisor of their pieces.
    """
    size = gcd(*(bundle.whole(level) for bundle in bundles))
    return rooms_of(layout).together(bundles, level, name) // size * size if bundles else 0
