"""On which nodes a bundle may be at all, by what is said of its members and of what it lies within."""

from __future__ import annotations

from typing import Iterable

from ....models.component import Component
from ....models.machines.node_group import ACCELERATOR
from ....models.problem import Problem
from ...memory import peak
from ..bundle import Bundle
from ..parts import Parts
from ..within.inside import company


def nodes_in_reach(parts: Parts, bundle: Bundle) -> frozenset[int]:
    """The nodes that groups, models and exclusions leave to all its company, whatever their memory."""
    return _allowed(parts.problem, bundle.kind, company(parts, bundle), False)


def eligible_nodes(parts: Parts, bundle: Bundle) -> frozenset[int]:
    """Those whose accelerators have the memory that all its company needs together."""
    return _allowed(parts.problem, bundle.kind, company(parts, bundle), True)


def _allowed(problem: Problem, kind: str, members: Iterable[Component], heeds_memory: bool) -> frozenset[int]:
    members = tuple(members)
    nodes = frozenset[int].intersection(*(problem.cluster.members(labels) for labels in {c.node_groups: None for c in members}))
    nodes = nodes.difference(*(component.excluded for component in members))
    if kind != ACCELERATOR:
        return nodes
    models = {component.accelerator_model for component in members if component.accelerator_model}
    unfit, needs = set[int](), dict[int | None, int]()
    for alike in problem.cluster.alike:
        has = alike.node.accelerator_memory
        if heeds_memory and has not in needs:
            needs[has] = peak(members, has)
        small = heeds_memory and has is not None and has < needs[has]
        if not alike.node.accelerators or not models <= {alike.node.accelerator_model} or small:
            unfit.update(range(alike.node.rank, alike.stop))
    return nodes - unfit
