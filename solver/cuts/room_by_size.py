"""What a domain has room for depends on the size of the pieces in it: its fragments are of use only where something small is."""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import ClassVar, Iterator, Sequence

from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..layout.pools import Pool
from ..model.variables import Variables
from ..objectives.domains import bundle_touches, rooms_of
from .domains_of_subsets import MOST_BUNDLES, weighed

SCARCE = 90
"""Percent of the room for large pieces that is asked for in all: below it there are good answers without the fragments, and the rows are a
burden (measured: 4096 accelerators, a sixth or a third of the nodes held in part, three shares of what is free asked for)."""


class RoomBySize:
    """Large pieces, and small ones of some bundles, fill what large pieces can, and the fragments only if one of those bundles is there.

    For every domain, size, and set of bundles with smaller pieces: what large and small ones hold <= room for pieces of that size
    + for each of the small ones that is there, how much more room there is for pieces of its own size.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        for level in LEVELS:
            for name, large, small, room in rows(variables.layout, level):
                held = [variables.accelerators_in(bundle, level, name) for bundle in (*large, *small)]
                more = [further * bundle_touches(variables, bundle, level, name) for bundle, further in small.items()]
                variables.at_most(variables.total(held), room + variables.total(more))


def rows(layout: Layout, level: str) -> Iterator[tuple[str, Sequence[Bundle], dict[Bundle, int], int]]:
    """(domain, bundles of large pieces, bundles of small ones with how much more room there is for them, room for large pieces)."""
    costly = weighed(layout, level)
    for pool in layout.pools:
        bundles = [bundle for bundle in pool.counted if bundle in costly][:MOST_BUNDLES]
        for size in sorted({bundle.whole(level) for bundle in bundles})[1:]:
            large = [bundle for bundle in bundles if bundle.whole(level) >= size]
            small = [bundle for bundle in bundles if bundle.whole(level) < size]
            if _is_chain(large, small, level) and is_scarce(layout, pool, large, level):
                yield from _rows(layout, large, small, level)


def _is_chain(large: Sequence[Bundle], small: Sequence[Bundle], level: str) -> bool:
    """Does every small piece divide all larger ones? Then the smallest of those in a domain says what there is room for in all."""
    sizes = sorted(bundle.unit for bundle in small)
    return (
        all(bundle.whole(level) == bundle.unit for bundle in small)
        and all(other % one == 0 for one, other in zip(sizes, sizes[1:]))
        and all(bundle.unit % sizes[-1] == 0 for bundle in large)
    )


def is_scarce(layout: Layout, pool: Pool, large: Sequence[Bundle], level: str) -> bool:
    """Do all that may be where large pieces may be ask together for so much of the room for these?"""
    rooms, nodes = rooms_of(layout), {rank for bundle in large for rank in layout.eligible[bundle]}
    asked = sum(bundle.least * bundle.unit for bundle in pool.counted if not nodes.isdisjoint(layout.eligible[bundle]))
    return 100 * asked >= SCARCE * sum(_room(layout, large, level, name) for name in rooms.names(level))


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
                yield name, here, {each: _room(layout, [*here, each], level, name) - room for each in members}, room


def _room(layout: Layout, bundles: Sequence[Bundle], level: str, name: str) -> int:
    """What the domain holds at most of these bundles: a multiple of what divides the pieces of all."""
    size = gcd(*(bundle.whole(level) for bundle in bundles))
    return rooms_of(layout).together(bundles, level, name) // size * size if bundles else 0
