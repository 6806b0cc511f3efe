"""From a problem with times to the question of planning."""

from __future__ import annotations

from typing import Iterator, Sequence

import networkx

from ...models.component import APART, COLOCATED, DISJOINT, RANK_ALIGNED, SUBSET, ZERO_COPY, Component
from ...models.machines.node_group import ACCELERATOR
from ...models.planning.question import Edge, Question, Task
from ...models.planning.workload import Workload
from ...models.problem import Problem
from .options import options, room

Pairs = frozenset[tuple[str, str]]


def asked(problem: Problem, workload: Workload) -> Question:
    """The question. Components whose ranks are given and that nothing relates to a planned one only hold their accelerators."""
    given = [each for each in problem.components if each.runs is not None and not _related(problem, each)]
    parts = [each for each in problem.components if each not in given]
    space = room(problem, given)
    tasks, edges = _ordered(parts, workload)
    ways = {each.name: options(problem, each, each.timed, space, workload.batches) for each in parts}
    names = {each.name for each in parts}
    within = _pairs(problem, (SUBSET,), names)
    together = _pairs(problem, (COLOCATED, RANK_ALIGNED, ZERO_COPY), names)
    arranged = (way.among(frozenset(name for name in names if _hold(problem, name))) for way in problem.job.ways)
    return Question(
        space.kinds,
        tasks,
        ways,
        edges,
        resident=frozenset(each.name for each in parts if _is_resident(each)),
        together=together,
        apart=_pairs(problem, (DISJOINT, APART), names),
        within=within,
        alone=frozenset(
            each.name for each in parts if each.runs is not None or (each.timed is None and not _goes_along(problem, each, together))
        ),
        ways=tuple(arranged),
        nested=bool(within) or workload.nested,
        phases=workload.phases,
        batches=workload.batches,
        aim=workload.aim,
        budget=workload.budget,
    )


def _is_resident(component: Component) -> bool:
    """Is all of its memory taken all the time? An estimate knows what is there while others work, unless nothing says when it works."""
    if component.timed and component.estimate and not (component.memory or component.offloaded):
        return False
    return not component.phase and not (component.timed and any(component.timed.phases))


def _related(problem: Problem, component: Component) -> bool:
    """Is it planned, or on the accelerators of one that is?"""
    if component.timed:
        return True
    kinds = (COLOCATED, RANK_ALIGNED, ZERO_COPY, SUBSET)
    return any(component.name in relation.components for kind in kinds for relation in problem.related(kind))


def _goes_along(problem: Problem, component: Component, together: Pairs) -> bool:
    """Is it wherever one is that is planned? Then it is in nobody's way where that one is in nobody's."""
    reached, before = {component.name}, set[str]()
    while reached != before:
        before = set(reached)
        reached |= {name for pair in together if not reached.isdisjoint(pair) for name in pair}
    return any(problem[name].timed and problem[name].runs is None for name in reached)


def _pairs(problem: Problem, kinds: Sequence[str], names: set[str]) -> Pairs:
    found = (relation.components for kind in kinds for relation in problem.related(kind))
    return frozenset((one, other) for one, other in found if {one, other} <= names and _hold(problem, one) and _hold(problem, other))


def _hold(problem: Problem, name: str) -> bool:
    return problem.kind(problem[name]) == ACCELERATOR


def _ordered(parts: Sequence[Component], workload: Workload) -> tuple[tuple[Task, ...], tuple[Edge, ...]]:
    """The tasks, none before one that it works on, and what works on what. Of a cycle what leads back is left out.

    Components that wait for each other in turn, as a simulator and its policy do, so become a chain in the written order.
    """
    written = [Task(each.name, phase) for each in parts if each.timed for phase in each.timed.phases]
    place = {task: number for number, task in enumerate(written)}
    edges = list(
        dict.fromkeys((one, other, after.whole) for after in workload.after for one, other in _between(written, after.earlier, after.later))
    )
    graph = networkx.DiGraph([(one, other) for one, other, _ in edges])
    graph.add_nodes_from(written)
    circle = {task: number for number, its in enumerate(networkx.strongly_connected_components(graph)) for task in its}
    kept = [each for each in edges if circle[each[0]] != circle[each[1]] or place[each[0]] < place[each[1]]]
    acyclic = networkx.DiGraph([(one, other) for one, other, _ in kept])
    acyclic.add_nodes_from(written)
    order = tuple(networkx.lexicographical_topological_sort(acyclic, key=place.__getitem__))
    index = {task: number for number, task in enumerate(order)}
    return order, tuple(sorted((Edge(index[one], index[other], whole) for one, other, whole in kept), key=lambda e: (e.earlier, e.later)))


def _between(tasks: Sequence[Task], earlier: str, later: str) -> Iterator[tuple[Task, Task]]:
    """The pairs of tasks that an edge between two names means; a name is a component's or a task's (``critic.train``)."""
    ones = [task for task in tasks if earlier in (task.component, str(task))]
    others = [task for task in tasks if later in (task.component, str(task))]
    for one in ones:
        for other in others:
            if one != other:
                yield one, other
