"""Where the parts of a problem may be, by what is said of each alone; and which nodes that tells apart."""

from __future__ import annotations

from typing import AbstractSet as Set
from typing import Iterator

from ...models.component import BETWEEN_DOMAINS, NEAR, Component
from ...models.locality import WHOLE, Keep
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.machines.topology import NODE_LEVEL
from ...models.placements.assignment import Assignment
from ...models.problem import Problem
from .pinned_groups import gaps

Nodes = frozenset[int]
"""Ranks of nodes."""


def may_be(problem: Problem, component: Component) -> Nodes:
    """The nodes that the component is given, or that its groups, its model and what is excluded leave it."""
    if component.runs is not None:
        given = Assignment({component.name: component.runs})
        return frozenset(node for ranges in given.node_ranges(component.name) for node in ranges)
    nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
    model = component.accelerator_model if problem.kind(component) == ACCELERATOR else ""
    return frozenset(rank for rank in nodes if not model or problem.cluster.nodes[rank].accelerator_model == model)


def set_may_be(problem: Problem, component: Component) -> Nodes:
    """The nodes where the component and all that share its accelerators may be."""
    members = next(members for members in problem.colocated_sets if component in members)
    return frozenset[int].intersection(*(may_be(problem, each) for each in members))


def is_given(problem: Problem, component: Component) -> bool:
    """Is its place given, by its own ranks or by those of what shares its accelerators?"""
    return any(each.runs is not None for members in problem.colocated_sets if component in members for each in members)


def told_apart(problem: Problem) -> Iterator[Set[int]]:
    """Sets of nodes that a rule treats otherwise than the others: no cell holds both nodes of such a set and others."""
    for component in problem.components:
        if component.excluded:
            yield frozenset(component.excluded)
        for pin in component.pins:
            yield frozenset(pin.nodes)
            if problem.job.capabilities.nodes_in_order:  # then what counts is how much is on the nodes before
                yield from (frozenset(range(node)) for gap in gaps(pin.nodes, len(problem.cluster.nodes)) for node in (gap.start, gap.stop))
    for one, other, _ in _node_pairs(problem):
        yield set_may_be(problem, one)
        yield set_may_be(problem, other)


def alone(problem: Problem) -> Set[int]:
    """The nodes that must each be a cell of their own, since a rule counts on every one of them.

    Two components whose nodes are compared need that only where both may be; where one of them is given, and the other need not be
    wherever it is, it is enough that its nodes are told apart from the others.
    """
    found: set[int] = set()
    for one, other, kind in _node_pairs(problem):
        given = [is_given(problem, each) for each in (one, other)]
        if not any(given) or (kind == NEAR and given == [True, False]):
            found |= set_may_be(problem, one) & set_may_be(problem, other)
    for component in problem.components:
        on_nodes = problem.kind(component) == NODE
        kept = any(_counts_nodes(component, keep) or (on_nodes and keep.level == NODE_LEVEL) for keep in component.keep)
        if kept or any(spread.level == NODE_LEVEL for spread in component.spread):
            found |= set_may_be(problem, component)
    return found


def _counts_nodes(component: Component, keep: Keep) -> bool:
    """Does a demand to keep something together count nodes? Not where each group, or all of the component, is a unit of its own."""
    if keep.level != NODE_LEVEL:
        return False
    return not keep.required or (keep.what == WHOLE and not (component.least == component.most and keep.domains == 1))


def _node_pairs(problem: Problem) -> Iterator[tuple[Component, Component, str]]:
    """Pairs of components whose nodes are compared, and how."""
    for kind in BETWEEN_DOMAINS:
        for relation in problem.related(kind):
            if relation.level == NODE_LEVEL:
                one, other = (problem[name] for name in relation.components)
                yield one, other, kind
