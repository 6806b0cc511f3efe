"""Cuts: implied rows for a tighter bound; they remove no answer."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Iterator, Sequence

from ..models.machines.topology import LEVELS
from .layout.bundle import Bundle
from .layout.capacities import rooms_of
from .layout.layout import Layout
from .layout.pools import NodePool
from .model.variables import Variables
from .objectives.domains import count_of, fewest_of, several
from .objectives.traffic import Collectives, DomainsTouched, UncoveredCost, WeightSync

MOST_BUNDLES = 7
"""Largest number of bundles of a pool whose sets are all counted."""
Senders = dict[Bundle, dict[Bundle, UncoveredCost]]
"""Receiver -> sender -> link of weights; without cycles."""


def domains_of_subsets(variables: Variables, levels: Sequence[str] = LEVELS) -> None:
    """Post lower bounds on the domains touched by sets of components.

    The touched domains hold the least amounts of all members, and no domain holds more than its
    free resources. A member that gets weights from another member may count only in domains without
    its sender: in every touched domain some member has no sender there. Beside many bundles all
    such members count so, which is the strongest row; beside few also none or one of them.
    """
    for level in levels:
        senders = find_senders(variables.layout, level)
        for members, fewest_domains in subset_rows(variables.layout, level):
            links = {bundle: link for bundle in members for sender, link in senders.get(bundle, {}).items() if sender in members}
            is_few = len(variables.layout.pool_of[members[0]].bundles) <= MOST_BUNDLES
            choices: list[tuple[Bundle, ...]] = [(), *((receiver,) for receiver in links)] if is_few else [tuple(links)]
            for receivers in choices:
                if (is_few and receivers) or fewest_domains > len(members) - len(receivers):
                    counts = [
                        links[bundle].domains(variables, level) if bundle in receivers else count_of(variables, bundle, level)
                        for bundle in members
                    ]
                    variables.at_most(fewest_domains, variables.total(counts))


def subset_rows(layout: Layout, level: str) -> Iterator[tuple[tuple[Bundle, ...], int]]:
    """Yield (bundles, fewest domains together) for sets in need of several domains."""
    if not several(layout.problem, level):
        return
    capacities = rooms_of(layout)
    for pool in layout.pools:
        for members in _sets(layout, level, pool):
            demand, limits = sum(bundle.unit * bundle.least for bundle in members), list[int]()
            for name in capacities.names(level):
                limits.append(
                    min(capacities.together(members, level, name), sum(capacities.most(bundle, level, name) for bundle in members))
                )
                if limits[-1] >= demand:
                    break  # one domain is enough
            else:
                yield members, fewest_of(limits, demand)


def _sets(layout: Layout, level: str, pool: NodePool) -> list[tuple[Bundle, ...]]:
    """Return the counted sets: all of the first bundles, and each sender with all its receivers."""
    senders = find_senders(layout, level)
    costs = [cost for term in (Collectives(level), DomainsTouched(level)) for cost in term.costs(layout.problem)]
    costly = {layout.bundle_of[cost.component.name] for cost in costs if cost.component.name in layout.bundle_of}
    costly = costly.union(senders, *senders.values())
    bundles = [bundle for bundle in pool.bundles if bundle in costly]
    few = bundles[:MOST_BUNDLES]
    trees = [tuple(bundle for bundle in bundles if bundle is root or root in _above(senders, bundle)) for root in bundles]
    subsets = [members for size in range(1, len(few) + 1) for members in combinations(few, size)]
    return [*subsets, *(members for members in trees if len(members) > 1 and not set(members) <= set(few))]


def find_senders(layout: Layout, level: str) -> Senders:
    """Return the senders of weights to each receiver, without links that close a cycle."""
    senders: Senders = {}
    for link in WeightSync(level).costs(layout.problem):
        if (pair := link.searched_pair(layout)) and pair[1] not in _above(senders, pair[0]):
            senders.setdefault(pair[1], {})[pair[0]] = link
    return senders


def _above(senders: Senders, bundle: Bundle) -> set[Bundle]:
    """Return the direct and indirect senders of a bundle."""
    direct = senders.get(bundle, {})
    return set(direct).union(*(_above(senders, sender) for sender in direct))


Cut = Callable[..., None]
CUTS: tuple[Cut, ...] = (domains_of_subsets,)
