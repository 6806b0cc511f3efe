"""Processes that need no accelerator and whose nodes are searched, as something depends on which these are.

All others are spread evenly over their nodes by arithmetic, and nothing is searched.
"""

from __future__ import annotations

from typing import Iterator

from ...models.component import BETWEEN_DOMAINS, NOT_FEWER, UNBOUNDED, Component
from ...models.locality import WHOLE
from ...models.machines.node_group import NODE
from ...models.machines.topology import LEVELS, domains
from ...models.problem import Problem
from .bundle import Bundle
from .cells.reserved import reservations
from .on_nodes.dealt import Dealt
from .parts import Parts


def dealt(parts: Parts) -> Iterator[Dealt]:
    """The components whose processes are dealt out: those that are pinned, spread, linked, or compared with others by their domains.

    And those that reserve something of their nodes of which the even share might be too much.
    """
    problem = parts.problem
    for component in (c for c in problem.hinted if problem.kind(c) == NODE):
        even = parts.on_nodes[component.name]
        nodes = problem.cluster.members(component.node_groups).difference(component.excluded)
        if even and (depends(problem, component) or _may_be_short(parts, component, nodes)):
            most = sum(len(run.ranks) for run in even)
            fewest = min(component.least, most) if component.most < UNBOUNDED else most
            yield Dealt(Bundle((component,), NODE), most, fewest, nodes, even)


def depends(problem: Problem, component: Component) -> bool:
    """Is something asked of the nodes of the component themselves?"""
    compared = (component.name in relation.components for kind in BETWEEN_DOMAINS for relation in problem.related(kind))
    kept = any(keep.what == WHOLE for keep in component.keep)
    counted = (component.name in relation.components for relation in problem.related(NOT_FEWER))
    is_counted = component.least < component.most < UNBOUNDED and any(counted)
    return kept or is_counted or bool(component.pins or component.spread) or any(compared) or _is_linked(problem, component)


def _is_linked(problem: Problem, component: Component) -> bool:
    """Does what its processes exchange, or other components with them, depend on its nodes?"""
    linked = any(component.name in (link.source, link.target) and link.source != link.target for link in problem.job.links)
    return (linked or component.traffic > 0) and any(len(domains(problem.cluster, level)) > 1 for level in LEVELS)


def _may_be_short(parts: Parts, component: Component, nodes: frozenset[int]) -> bool:
    if not component.cpus and not component.host_memory:
        return False
    reserved = reservations(parts)
    return any(each.may_be_short(parts.problem.cluster.nodes[node]) for each in reserved for node in sorted(nodes))
