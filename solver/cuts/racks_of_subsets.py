"""Components that do not fit one rack together cannot all be in the same one."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar, Iterator

from ...models.problem import Problem
from ..layout.layout import Bundle, Layout, domains_of
from ..model.variables import Variables
from ..objectives.domains_touched import LEVEL

MOST_BUNDLES = 7


class RacksOfSubsets:
    """Every set of components touches together at least as many racks as their least amounts need.

    The racks that are touched hold all of them, and no rack holds more than it has free; the sum of what each component
    touches is at least the number of racks in the union.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        names = list(domains_of(variables.layout, LEVEL))
        if len(names) == 1:
            return
        for members, fewest in rows(variables.layout):
            touched = variables.total(variables.touches(bundle, LEVEL, name) for bundle in members for name in names)
            variables.require(touched >= fewest)


def rows(layout: Layout) -> Iterator[tuple[tuple[Bundle, ...], int]]:
    """(bundles, the racks that they need together), for every set of two or more that needs more than one rack a member."""
    for pool in layout.pools:
        bundles = pool.bundles[:MOST_BUNDLES]
        rooms = sorted(
            (sum(layout.capacity(cell, pool, 1) for cell in cells) for cells in domains_of(layout, LEVEL).values()), reverse=True
        )
        for size in range(1, len(bundles) + 1):
            for members in combinations(bundles, size):
                fewest = _fewest(rooms, sum(bundle.unit * bundle.least for bundle in members))
                if fewest > size:
                    yield members, fewest


def _fewest(rooms: list[int], demand: int) -> int:
    """How many of the roomiest racks hold that much; one more than there are if all do not."""
    for count, room in enumerate(rooms):
        if demand <= 0:
            return count
        demand -= room
    return len(rooms) + (demand > 0)
