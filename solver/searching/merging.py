"""Merged problem: receivers of weights join their senders, for a first look at the domains of both."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import gcd

from ...models.component import WHOLE, Component, Parallel
from ...models.job import Link
from ...models.problem import Problem
from ..layout.capacities import rooms_of
from ..layout.layout import Count, Layout, Values
from ..structure import level_of

MOST_KEPT = 0.6
"""Largest share of the components that is left by a merge worth a search."""
Presence = dict[tuple[str, str], bool]
"""(component, domain) -> True if some of the component is there."""


def merge_receivers(layout: Layout) -> Problem | None:
    """Return a problem of fewer components; None if few can be merged.

    A receiver joins its sender if no other component is linked to it, and both fit the domains that
    the sender can touch: then the weights cost nothing. Answers of the merged problem suggest
    domains; they prove nothing.
    """
    problem, level = layout.problem, level_of(layout.problem)
    if not level or problem.previous is not None or problem.caps or problem.unlike:
        return None
    capacities = rooms_of(layout)
    free = sorted(sum(capacities.together(pool.bundles, level, name) for pool in layout.pools) for name in capacities.names(level))
    components = {component.name: component for component in problem.components}
    links = list(problem.job.links)
    while link := next((link for link in _heaviest(links) if _may_merge(layout, components, links, link, free)), None):
        receiver, sender = components.pop(link.target), components[link.source]
        unit, amount = gcd(sender.unit, receiver.unit), sender.least + receiver.least
        components[sender.name] = replace(
            sender, least=amount, most=amount, parallel=Parallel(unit), memory=max(sender.memory, receiver.memory), estimate=None
        )
        links.remove(link)
    if len(components) > MOST_KEPT * len(problem.components):
        return None
    return replace(problem, job=replace(problem.job, components=tuple(components.values()), links=tuple(links)))


def _heaviest(links: list[Link]) -> list[Link]:
    return sorted(links, key=lambda link: -link.weights)


def _may_merge(layout: Layout, components: dict[str, Component], links: list[Link], link: Link, free: list[int]) -> bool:
    """Return True if the target of a link may join its source."""
    ends = Counter(name for entry in links for name in (entry.source, entry.target))
    sender, receiver = components.get(link.source), components.get(link.target)
    if not link.weights or sender is None or receiver is None or ends[link.target] > 1:
        return False
    if not all(_is_plain(layout, component) for component in (sender, receiver)):
        return False
    if (sender.accelerator_model, sender.node_groups) != (receiver.accelerator_model, receiver.node_groups):
        return False
    if receiver.traffic and receiver.least > free[-1]:
        return False
    units = 1 if any(keep.unit == WHOLE for keep in sender.keep) else layout.bundle_of[sender.name].least
    return sum(free[-units:]) >= sender.least + receiver.least


def _is_plain(layout: Layout, component: Component) -> bool:
    """Return True if only a count, tensor parallel groups and preferences constrain a component."""
    bundle = layout.bundle_of.get(component.name)
    related_names = {name for relation in layout.problem.job.relations for name in relation.components}
    is_free = not (component.pins or component.spread or component.excluded or any(keep.required for keep in component.keep))
    return bundle in layout.counted and component.name not in related_names and component.least == component.most and is_free


def find_domains(layout: Layout, values: Values) -> Presence:
    """Return the domains of every searched component in an answer."""
    level = level_of(layout.problem)
    presence = {(bundle.components[0].name, name): False for bundle in layout.counted for name in layout.domains(level)}
    for count, amount in values.items():
        if isinstance(count, Count) and amount:
            presence[count.bundle.components[0].name, count.cell.domain(level)] = True
    return presence
