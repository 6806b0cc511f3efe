"""Cuts: implied rows for a tighter bound; they remove no answer."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator

from ..models.machines.topology import LEVELS
from .layout.bundle import Bundle
from .layout.layout import Layout
from .model.variables import Variables
from .objectives.domains import count_of, fewest_of, rooms_of, several
from .objectives.traffic import Collectives, DomainsTouched, UncoveredCost, WeightSync

MOST_BUNDLES = 7
"""Largest number of bundles of a pool whose sets are counted."""


def domains_of_subsets(variables: Variables) -> None:
    """Post lower bounds on the domains touched by sets of components.

    The touched domains hold the least amounts of all members, and no domain holds more than its
    free resources. The domains touched by the members, added up, are at least the union. In a pair
    that sends weights, the target counts only in domains without its source.
    """
    for level in LEVELS:
        pairs = pairs_of(variables.layout, level)
        for members, fewest_domains in subset_rows(variables.layout, level):
            domain_counts = {bundle: count_of(variables, bundle, level) for bundle in members}
            if fewest_domains > len(members):
                variables.at_most(fewest_domains, variables.total(domain_counts.values()))
            for link, (sender, receiver) in pairs:
                if sender in domain_counts and receiver in domain_counts:
                    rest = [count for bundle, count in domain_counts.items() if bundle is not receiver]
                    variables.at_most(fewest_domains, variables.total([*rest, link.domains(variables, level)]))


def subset_rows(layout: Layout, level: str) -> Iterator[tuple[tuple[Bundle, ...], int]]:
    """Yield (bundles, fewest domains together) for sets in need of several domains."""
    if not several(layout.problem, level):
        return
    costly = find_weighed(layout, level)
    capacities = rooms_of(layout)
    for pool in layout.pools:
        bundles = [bundle for bundle in pool.bundles if bundle in costly][:MOST_BUNDLES]
        for size in range(1, len(bundles) + 1):
            for members in combinations(bundles, size):
                limits = [
                    min(capacities.together(members, level, name), sum(capacities.most(bundle, level, name) for bundle in members))
                    for name in capacities.names(level)
                ]
                fewest_domains = fewest_of(limits, sum(bundle.unit * bundle.least for bundle in members))
                if fewest_domains > 1:
                    yield members, fewest_domains


def find_weighed(layout: Layout, level: str) -> set[Bundle]:
    """Return the bundles with a cost for domains of the level."""
    costs = [cost for term in (Collectives(level), DomainsTouched(level)) for cost in term.costs(layout.problem)]
    bundles = {layout.bundle_of[cost.component.name] for cost in costs if cost.component.name in layout.bundle_of}
    return bundles.union(*(pair for _, pair in pairs_of(layout, level)))


def pairs_of(layout: Layout, level: str) -> list[tuple[UncoveredCost, tuple[Bundle, Bundle]]]:
    """Return links of weights with both ends searched, on different accelerators."""
    links = WeightSync(level).costs(layout.problem)
    return [(link, pair) for link in links if (pair := link.searched_pair(layout)) is not None]


Cut = Callable[[Variables], None]
CUTS: tuple[Cut, ...] = (domains_of_subsets,)
