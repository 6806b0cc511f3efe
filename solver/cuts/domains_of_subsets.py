"""Components that do not fit one domain together cannot all be in the same one."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar, Iterator

from ...models.component import Component
from ...models.machines.topology import LEVELS
from ...models.problem import Problem
from ..layout.bundle import Bundle
from ..layout.layout import Layout
from ..model.variables import Variables
from ..objectives.domains import count_of, fewest_of, rooms_of, several
from ..objectives.domains_touched import DomainsTouched
from ..objectives.traffic import Collectives, links, uncovered

MOST_BUNDLES = 7


class DomainsOfSubsets:
    """Every set of components touches together at least as many domains of a level as their least amounts need.

    The domains that are touched hold all of them, and no domain holds more than it has free; the sum of what each component
    touches is at least the number of domains in the union. Of two that send weights, the target counts where its source is not.
    """

    implied: ClassVar[bool] = True

    def encode(self, problem: Problem, variables: Variables) -> None:
        for level in LEVELS:
            pairs = list(pairs_of(problem, variables.layout, level))
            for members, least in rows(variables.layout, level):
                touched = {bundle: count_of(variables, bundle, level) for bundle in members}
                if least > len(members):
                    variables.at_most(least, variables.total(touched.values()))
                for source, target in pairs:
                    one, other = variables.layout.bundle_of[source.name], variables.layout.bundle_of[target.name]
                    if one in touched and other in touched:
                        rest = [count for bundle, count in touched.items() if bundle is not other]
                        variables.at_most(least, variables.total([*rest, uncovered(variables, source, target, level)]))


def rows(layout: Layout, level: str) -> Iterator[tuple[tuple[Bundle, ...], int]]:
    """(bundles, the domains that they need together), for every set that needs more than one domain."""
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
    """The bundles whose domains cost something at the level."""
    problem = layout.problem
    found = {bundle for bundle, _ in Collectives(level).bundles(problem, layout)} | set(DomainsTouched(level).bundles(problem, layout))
    return found | {layout.bundle_of[component.name] for pair in pairs_of(problem, layout, level) for component in pair}


def pairs_of(problem: Problem, layout: Layout, level: str) -> Iterator[tuple[Component, Component]]:
    """Source and target of weights, both searched and not on the same accelerators."""
    for link, source, target in links(problem, level):
        one, other = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if link.weights and one and other and one is not other and not one.fixed and not other.fixed:
            yield source, target
