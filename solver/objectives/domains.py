"""Domains of bundles and components: indicators, rows, capacities, fewest domains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Mapping

from ...models.component import Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import domain, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from ..layout.capacities import rooms_of
from ..stretches import amounts_in
from .term import Aggregate

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..layout.layout import Layout
    from ..model.amount import Amount
    from ..model.variables import Variables


WORDS = {"zone": "zones", "rack": "racks", "nvlink_domain": "NVLink domains"}
"""Level of the topology -> plural name of the domains in output."""


def count_held(problem: Problem, assignment: Assignment, component: Component, level: str) -> Mapping[str, int]:
    """Return domain -> resources of the component; processes on nodes."""
    return {name: amount for name, amount, _ in amounts_in(problem.cluster, level, assignment, component.name)}


def count_given(layout: Layout, level: str) -> dict[str, dict[str, int]]:
    """Return domain -> component -> resources of explicit and spread placements."""
    nodes = layout.problem.cluster.nodes
    by_domain: dict[str, dict[str, int]] = {}

    def add(name: str, node: int, count: int) -> None:
        amounts = by_domain.setdefault(domain(nodes[node], level), {})
        amounts[name] = amounts.get(name, 0) + count

    for bundle, masks in layout.fixed.items():
        for component in bundle.components:
            for node, mask in masks.items():
                add(component.name, node, mask.bit_count())
    for name, runs in layout.on_nodes.items():
        for run in runs:
            add(name, run.node, len(run.ranks))
    return by_domain


def touches(variables: Variables, component: Component, level: str, name: str) -> Amount:
    """Return 1 exactly if some of the component is in the domain, else 0."""
    bundle = variables.bundle(component)
    if bundle and not bundle.fixed and not rooms_of(variables.layout).most(bundle, level, name):
        return 0
    return variables.present(component, level, name)


def most(variables: Variables, component: Component, level: str, name: str) -> int:
    """Return an upper bound on the component's resources in the domain."""
    bundle = variables.bundle(component)
    if bundle is None or bundle.fixed:
        amount = variables.count_held(component, level, name)
        return amount if isinstance(amount, int) else variables.layout.dealt[component.name].processes
    return rooms_of(variables.layout).most(bundle, level, name)


def several(problem: Problem, level: str) -> tuple[str, ...]:
    """Return the domains of a level if there are several, else nothing.

    Nothing can cross within a single domain.
    """
    names = domains(problem.cluster, level)
    return names if len(names) > 1 else ()


def is_open(problem: Problem, component: Component) -> bool:
    """Return True if the place of the component is searched.

    False if its ranks, or those of a component on the same accelerators, are given, and for a
    component on nodes. A component with a choice to share with given ranks counts as searched.
    """
    members = next(members for members in problem.colocated_sets if any(member.name == component.name for member in members))
    if problem.kind(component) == NODE or component.runs is not None:
        return False
    may_share = any(relation.demanded and component.name in relation.components for relation in problem.job.relations)
    return may_share or all(member.runs is None for member in members)


def count_of(variables: Variables, bundle: Bundle, level: str) -> Amount:
    """Return the number of domains of the level with some of the bundle."""

    def make() -> Amount:
        names = rooms_of(variables.layout).names(level)
        return variables.total(touches(variables, bundle.components[0], level, name) for name in names)

    return variables.once(("count", bundle, level), make)


def component_count(variables: Variables, component: Component, level: str) -> Amount:
    """Return the number of domains of the level with some of the component."""
    if bundle := variables.bundle(component):
        return count_of(variables, bundle, level)
    return variables.total(touches(variables, component, level, name) for name in several(variables.problem, level))


def domains_counted(variables: Variables, bundle: Bundle, level: str, cost: int) -> Aggregate:
    """Return the bundle's domain count as an aggregate to branch on.

    `cost` is that of a further domain.
    """
    capacities = rooms_of(variables.layout)
    members = [
        (touches(variables, bundle.components[0], level, name), capacities.most(bundle, level, name)) for name in capacities.names(level)
    ]
    return Aggregate(("domains", bundle, level), members, cost)


def fewest(layout: Layout, bundle: Bundle, level: str) -> int:
    """Return the fewest domains for the bundle's least amount, at least 1.

    Also at least those demanded by `spread`. Every domain counts as if the bundle had it alone, the roomiest first.
    """
    capacities = rooms_of(layout)
    minimum = fewest_of([capacities.most(bundle, level, name) for name in capacities.names(level)], bundle.least * bundle.unit)
    spreads = (spread for component in bundle.components for spread in component.spread if spread.level == level)
    return max([minimum, *(spread.domains for spread in spreads)])


def fewest_of(capacities: list[int], demand: int) -> int:
    """Return how many of the largest domains hold the demand, at least 1.

    The number of domains plus 1 if all together do not.
    """
    for count, capacity in enumerate(sorted(capacities, reverse=True), start=1):
        demand -= capacity
        if demand <= 0:
            return count
    return len(capacities) + 1


def domain_rows(variables: Variables, bundle: Bundle, level: str) -> None:
    """Post rows between indicators and resources of the bundle in domains.

    In a domain that it touches, the bundle holds at least a group and at most the capacity; the
    domains together hold its least amount. Other rules imply these rows: they tell a linear
    relaxation the cost of a part of a domain.
    """

    def post() -> Amount:
        capacities = rooms_of(variables.layout)
        limits = []
        for name in capacities.names(level):
            if most := capacities.most(bundle, level, name):
                indicator = touches(variables, bundle.components[0], level, name)
                resources = variables.accelerators_in(bundle, level, name)
                variables.at_most(resources, most * indicator)
                variables.at_most(bundle.whole(level) * indicator, resources)
                limits.append(most * indicator)
        variables.at_most(bundle.least * bundle.unit, variables.total(limits))
        variables.at_most(fewest(variables.layout, bundle, level), count_of(variables, bundle, level))
        return 0

    variables.once(("domain rows", bundle, level), post)
