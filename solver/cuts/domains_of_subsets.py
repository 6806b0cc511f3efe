"""Cut: components too large together for a single domain."""

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
    """Lower bound on the domains touched by every set of components.

    The touched domains hold the least amounts of all members, and no domain holds more than its
    free resources. The domains touched by the members, added up, are at least the union. In a pair
    that sends weights, the target counts only in domains without its source.
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
                    sender, receiver = variables.layout.bundle_of[source.name], variables.layout.bundle_of[target.name]
                    if sender in touched and receiver in touched:
                        rest = [count for bundle, count in touched.items() if bundle is not receiver]
                        variables.at_most(least, variables.total([*rest, uncovered(variables, source, target, level)]))


def rows(layout: Layout, level: str) -> Iterator[tuple[tuple[Bundle, ...], int]]:
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
    problem = layout.problem
    bundles = {bundle for bundle, _ in Collectives(level).bundles(problem, layout)} | set(DomainsTouched(level).bundles(problem, layout))
    return bundles | {layout.bundle_of[component.name] for pair in pairs_of(problem, layout, level) for component in pair}


def pairs_of(problem: Problem, layout: Layout, level: str) -> Iterator[tuple[Component, Component]]:
    """Yield (source, target) of weights, both searched, on different accelerators."""
    for link, source, target in links(problem, level):
        sender, receiver = layout.bundle_of.get(source.name), layout.bundle_of.get(target.name)
        if link.weights and sender and receiver and sender is not receiver and not sender.fixed and not receiver.fixed:
            yield source, target
