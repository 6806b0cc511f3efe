"""In which domains of the topology a component is, and with how much: in the solver's words, and of an answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...models.component import Component
from ...models.machines.node_group import NODE
from ...models.machines.topology import domain, domains
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from .rooms import rooms_of

if TYPE_CHECKING:
    from ..layout.bundle import Bundle
    from ..model.amount import Amount
    from ..model.variables import Variables

WORDS = {"zone": "zones", "rack": "racks", "nvlink_domain": "NVLink domains"}
"""Level of the topology -> its domains, as they are printed."""


def held(problem: Problem, assignment: Assignment, component: Component, level: str) -> Counter[str]:
    """Domain -> resources of the component there; processes where nodes are its resource."""
    found: Counter[str] = Counter()
    nodes, kind = problem.cluster.nodes, problem.kind(component)
    if kind == NODE:
        for run in assignment.of(component.name):
            found[domain(nodes[run.node], level)] += len(run.ranks)
    else:
        for (node, its), mask in assignment.masks(component.name).items():
            found[domain(nodes[node], level)] += mask.bit_count() if its == kind else 0
    return +found


def touches(variables: Variables, component: Component, level: str, name: str) -> Amount:
    """1 exactly if some of the component is in the domain, else 0."""
    bundle = variables.bundle(component)
    if bundle is None:
        return variables.present(component, level, name)
    return bundle_touches(variables, bundle, level, name)


def bundle_touches(variables: Variables, bundle: Bundle, level: str, name: str) -> Amount:
    """1 exactly if some of the bundle is in the domain; known to be 0 where it has no room."""
    if not bundle.fixed and not rooms_of(variables.layout).most(bundle, level, name):
        return 0
    return variables.touches(bundle, level, name)


def amount(variables: Variables, component: Component, level: str, name: str) -> Amount:
    """How much of the component is in the domain."""
    return variables.held(component, level, name)


def most(variables: Variables, component: Component, level: str, name: str) -> int:
    """How much of the component the domain could hold."""
    bundle = variables.bundle(component)
    if bundle is None or bundle.fixed:
        known = amount(variables, component, level, name)
        return known if isinstance(known, int) else variables.layout.dealt[component.name].processes
    return rooms_of(variables.layout).most(bundle, level, name)


def several(problem: Problem, level: str) -> tuple[str, ...]:
    """The domains of a level, if there is more than one: else nothing can cross between them."""
    names = domains(problem.cluster, level)
    return names if len(names) > 1 else ()


def is_open(problem: Problem, component: Component) -> bool:
    """Is the place of the component searched? Not where it, or one on the same accelerators, is given, nor where it has nodes.

    Where it was open whether it shares with what is given, its place was searched.
    """
    members = next(members for members in problem.colocated_sets if component in members)
    if problem.kind(component) == NODE or component.runs is not None:
        return False
    chosen = any(relation.demanded and component.name in relation.components for relation in problem.job.relations)
    return chosen or all(each.runs is None for each in members)
