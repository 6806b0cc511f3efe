"""Order of the tasks of a job, consistent with their dependencies."""

from __future__ import annotations

from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import Callable, Iterator, NamedTuple, Sequence

from .component import Component
from .planning.problem import Edge, Task
from .planning.workload import Workload, circles

Circle = tuple[Task, ...]
"""Tasks in a dependency cycle, or a single task outside of cycles."""


class TaskOrder(NamedTuple):
    """Tasks in a feasible order, edges between them, and cycles of tasks."""

    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]
    rounds: tuple[frozenset[int], ...]


def order_tasks(parts: Sequence[Component], workload: Workload) -> TaskOrder:
    """Return the tasks of a job in a feasible order.

    A cycle, such as a simulator and its policy, counts as one unit: a batch passes its tasks in the
    written order, and each does all its work on this batch in an iteration; predecessors feed the
    first task, successors wait for the last.
    """
    tasks = [Task(component.name, phase) for component in parts if component.timed for phase in component.timed.phases]
    place = {task: number for number, task in enumerate(tasks)}
    pairs = [
        (task, next_task, after.whole) for after in workload.after for task, next_task in _list_pairs(tasks, after.earlier, after.later)
    ]
    circle_of = _circles(tasks, [(task, next_task) for task, next_task, _ in pairs])
    every = list(dict.fromkeys(circle_of.values()))
    in_turn = _topological_order(
        every,
        [(circle_of[task], circle_of[next_task]) for task, next_task, _ in pairs if circle_of[task] != circle_of[next_task]],
        lambda circle: place[circle[0]],
    )
    order = tuple(task for circle in in_turn for task in circle)
    index = {task: number for number, task in enumerate(order)}
    edges = [
        Edge(index[circle_of[task][-1]], index[circle_of[next_task][0]], whole)
        for task, next_task, whole in pairs
        if circle_of[task] != circle_of[next_task]
    ]
    edges += [Edge(index[task], index[next_task]) for circle in every for task, next_task in zip(circle, circle[1:])]
    rounds = sorted((frozenset(index[task] for task in circle) for circle in every if len(circle) > 1), key=min)
    return TaskOrder(order, tuple(sorted(dict.fromkeys(edges), key=lambda edge: (edge.earlier, edge.later))), tuple(rounds))


def _circles(tasks: Sequence[Task], edges: Sequence[tuple[Task, Task]]) -> dict[Task, Circle]:
    """Return task -> cycle, in the given order; the task alone outside of cycles."""
    following: dict[Task, list[Task]] = {task: [] for task in tasks}
    for earlier, later in edges:
        following[earlier].append(later)
    number = circles(following)
    members: dict[int, list[Task]] = {}
    for task in tasks:
        members.setdefault(number[task], []).append(task)
    return {task: tuple(members[number[task]]) for task in tasks}


def _topological_order(every: Sequence[Circle], edges: Sequence[tuple[Circle, Circle]], key: Callable[[Circle], int]) -> Iterator[Circle]:
    """Yield the circles in topological order; among ready circles the least key first."""
    sorter: TopologicalSorter[Circle] = TopologicalSorter(dict.fromkeys(every, ()))
    for earlier, later in edges:
        sorter.add(later, earlier)
    sorter.prepare()
    ready: list[tuple[int, Circle]] = []
    while sorter.is_active():
        for circle in sorter.get_ready():
            heappush(ready, (key(circle), circle))
        _, first = heappop(ready)
        yield first
        sorter.done(first)


def _list_pairs(tasks: Sequence[Task], earlier: str, later: str) -> Iterator[tuple[Task, Task]]:
    """Yield the pairs of tasks of an edge between names of components or tasks."""
    earlier_tasks = [task for task in tasks if earlier in (task.component, str(task))]
    later_tasks = [task for task in tasks if later in (task.component, str(task))]
    for task in earlier_tasks:
        for next_task in later_tasks:
            if task != next_task:
                yield task, next_task
