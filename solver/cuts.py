"""Cuts: rows for a tighter bound, not needed for correctness."""

from __future__ import annotations

from itertools import combinations
from math import gcd
from typing import ClassVar, Iterator, Protocol, Sequence

from ..models.machines.topology import LEVELS
from ..models.problem import Problem
from .layout.bundle import Bundle
from .layout.layout import Layout
from .layout.pools import NodePool
from .model.variables import Variables
from .objectives.domain_costs import Uncovered
from .objectives.domains import bundle_touches, count_of, fewest_of, rooms_of, several
from .objectives.traffic import Collectives, DomainsTouched, WeightSync

MOST_BUNDLES = 7
"""Largest number of bundles of a pool whose sets are counted."""
SCARCE = 90
"""Demand, in percent of the capacity for large pieces, from which the cut is posted.

With less demand there are good answers without the fragments, and the rows are a burden (measured
with 4096 accelerators, a sixth or a third of the nodes held in part, three levels of demand).
"""


class Cut(Protocol):
    """Row for a tighter bound.

    `implied` is True for a row that removes no values. It is False for dominance: the row removes
    some values but always keeps an optimum.
    """

    implied: ClassVar[bool]

    def encode(self, problem: Problem, variables: Variables) -> None:
        """Post the row to the CP-SAT model."""
        ...


class DomainsOfSubsets:
    """Lower bound on the domains touched by every set of components.

    The touched domains hold the least amounts of all members, and no domain holds more than its
    free resources. The domains touched by the members, added up, are at least the union. In a pair
    that sends weights, the target counts only in domains without its source.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        for level in LEVELS:
            pairs = pairs_of(variables.layout, level)
            for members, least in subset_rows(variables.layout, level):
                touched = {bundle: count_of(variables, bundle, level) for bundle in members}
                if least > len(members):
                    variables.at_most(least, variables.total(touched.values()))
                for link, (sender, receiver) in pairs:
                    if sender in touched and receiver in touched:
                        rest = [count for bundle, count in touched.items() if bundle is not receiver]
                        variables.at_most(least, variables.total([*rest, link.domains(variables, level)]))


def subset_rows(layout: Layout, level: str) -> Iterator[tuple[tuple[Bundle, ...], int]]:
    """Yield (bundles, fewest domains together) for sets in need of several domains."""
    if not several(layout.problem, level):
        return
    costly = weighed(layout, level)
    rooms = rooms_of(layout)
    for pool in layout.pools:
        bundles = [bundle for bundle in pool.bundles if bundle in costly][:MOST_BUNDLES]
        for size in range(1, len(bundles) + 1):
            for members in combinations(bundles, size):
                room = [
                    min(rooms.together(members, level, name), sum(rooms.most(bundle, level, name) for bundle in members))
                    for name in rooms.names(level)
                ]
                least = fewest_of(room, sum(bundle.unit * bundle.least for bundle in members))
                if least > 1:
                    yield members, least


def weighed(layout: Layout, level: str) -> set[Bundle]:
    """Return the bundles with a cost for domains of the level."""
    costs = [cost for term in (Collectives(level), DomainsTouched(level)) for cost in term.costs(layout.problem)]
    bundles = {layout.bundle_of[cost.component.name] for cost in costs if cost.component.name in layout.bundle_of}
    return bundles.union(*(pair for _, pair in pairs_of(layout, level)))


def pairs_of(layout: Layout, level: str) -> list[tuple[Uncovered, tuple[Bundle, Bundle]]]:
    """Return links of weights with both ends searched, on different accelerators."""
    links = WeightSync(level).costs(layout.problem)
    return [(link, pair) for link in links if (pair := link.searched_pair(layout)) is not None]


class RoomBySize:
    """Limit on large and small pieces in a domain, by the fragments in use.

    For every domain, size, and set of bundles with smaller pieces: resources of large and small
    pieces <= capacity for pieces of that size + for each small bundle present, the additional
    capacity for pieces of its own size.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        for level in LEVELS:
            for name, large, small, room in size_rows(variables.layout, level):
                loads = [variables.accelerators_in(bundle, level, name) for bundle in (*large, *small)]
                extra = [further * bundle_touches(variables, bundle, level, name) for bundle, further in small.items()]
                variables.at_most(variables.total(loads), room + variables.total(extra))


def size_rows(layout: Layout, level: str) -> Iterator[tuple[str, Sequence[Bundle], dict[Bundle, int], int]]:
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


CUTS: tuple[Cut, ...] = (DomainsOfSubsets(), RoomBySize())
