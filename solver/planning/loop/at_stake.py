"""Whether what the question knows decides alone that a design has a placement."""

from __future__ import annotations

from itertools import combinations
from math import lcm

from ....models.component import COLOCATED, COLOCATED_OR_DISJOINT, DISJOINT, SUBSET, Component
from ....models.machines.node_group import ACCELERATOR, CLUSTER_LABEL
from ....models.planning.design import Design
from ....models.planning.question import Question
from ....models.problem import Problem

_COUNTED = {COLOCATED, DISJOINT, COLOCATED_OR_DISJOINT, SUBSET}
"""Relations that a design keeps by who shares with whom."""


def at_stake(problem: Problem, question: Question, design: Design) -> bool:
    """Could a design have no placement, although it answers the question? False where a sum shows that it has one.

    On nodes that are all alike, groups whose sizes form a chain of divisors of a node go in the largest first, as long as there is
    room for all of them together. Whatever else the file demands of places, and sets inside others, may be in the way of that.
    """
    job = problem.job
    if problem.caps or problem.unlike or problem.previous or job.laying is not None or job.capabilities.whole_replicas or question.ways:
        return True
    if any(relation.kind not in _COUNTED or relation.level for relation in job.relations) or any(map(_demands, problem.components)):
        return True
    nodes = {(len(node.accelerators), node.taken) for node in problem.cluster.nodes}
    if len(nodes) != 1 or any(taken for _, taken in nodes) or len(question.kinds) != 1 or question.kinds[0].mixed:
        return True
    if any(problem.kind(each) != ACCELERATOR or set(each.node_groups) != {CLUSTER_LABEL} for each in problem.components):
        return True
    names = [frozenset(block.components) for block in design.blocks]
    if any(not one.isdisjoint(other) for one, other in combinations(names, 2)):
        return True  # one lies inside another
    sizes = {lcm(*(design.options[name].group for name in its)) for its in names} | {count for count, _ in nodes}
    return any(large % small for small, large in zip(sorted(sizes), sorted(sizes)[1:]))


def _demands(component: Component) -> bool:
    """Is there more to say of its places than how many there are?"""
    asks = component.keep, component.spread, component.pins, component.excluded, component.contiguous, component.runs
    return any(asks) or component.cpus > 0 or component.host_memory > 0 or component.stride > 1
