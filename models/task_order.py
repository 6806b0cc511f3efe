"""Order of the tasks of a job: none before one that it works on."""

from __future__ import annotations

from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import Callable, Iterator, NamedTuple, Sequence

from .component import Component
from .planning.problem import Edge, Task
from .planning.workload import Workload, circles

Circle = tuple[Task, ...]
"""Tasks that wait for each other, or one that waits for none of those that follow it."""


class Ordered(NamedTuple):
    """The tasks, none before one that it works on; what works on what; and the sets of tasks that wait for each other in a circle."""

    tasks: tuple[Task, ...]
    edges: tuple[Edge, ...]
    rounds: tuple[frozenset[int], ...]


def ordered(parts: Sequence[Component], workload: Workload) -> Ordered:
    """The tasks of a job in an order that they can run in.

    A circle, as of a simulator and its policy, counts as one: a batch goes through its tasks in the written order, each of which does all
    that it does of this batch in an iteration; what comes before works for the first of them, what comes after waits for the last.
    """
    written = [Task(each.name, phase) for each in parts if each.timed for phase in each.timed.phases]
    place = {task: number for number, task in enumerate(written)}
    found = [(one, other, after.whole) for after in workload.after for one, other in _between(written, after.earlier, after.later)]
    of = _circles(written, [(one, other) for one, other, _ in found])
    every = list(dict.fromkeys(of.values()))
    in_turn = _in_turn(every, [(of[one], of[other]) for one, other, _ in found if of[one] != of[other]], lambda circle: place[circle[0]])
    order = tuple(task for circle in in_turn for task in circle)
    index = {task: number for number, task in enumerate(order)}
    edges = [Edge(index[of[one][-1]], index[of[other][0]], whole) for one, other, whole in found if of[one] != of[other]]
    edges += [Edge(index[one], index[other]) for circle in every for one, other in zip(circle, circle[1:])]
    rounds = sorted((frozenset(index[task] for task in circle) for circle in every if len(circle) > 1), key=min)
    return Ordered(order, tuple(sorted(dict.fromkeys(edges), key=lambda each: (each.earlier, each.later))), tuple(rounds))


def _circles(tasks: Sequence[Task], edges: Sequence[tuple[Task, Task]]) -> dict[Task, Circle]:
    """Task -> those that wait for each other with it, in the given order; it alone where there are none."""
    following: dict[Task, list[Task]] = {task: [] for task in tasks}
    for one, other in edges:
        following[one].append(other)
    number = circles(following)
    members: dict[int, list[Task]] = {}
    for task in tasks:
        members.setdefault(number[task], []).append(task)
    return {task: tuple(members[number[task]]) for task in tasks}


def _in_turn(every: Sequence[Circle], edges: Sequence[tuple[Circle, Circle]], key: Callable[[Circle], int]) -> Iterator[Circle]:
    """None before one that it works on; of those that could be next, the one with the least key."""
    sorter: TopologicalSorter[Circle] = TopologicalSorter(dict.fromkeys(every, ()))
    for one, other in edges:
        sorter.add(other, one)
    sorter.prepare()
    ready: list[tuple[int, Circle]] = []
    while sorter.is_active():
        for circle in sorter.get_ready():
            heappush(ready, (key(circle), circle))
        _, first = heappop(ready)
        yield first
        sorter.done(first)


def _between(tasks: Sequence[Task], earlier: str, later: str) -> Iterator[tuple[Task, Task]]:
    """The pairs of tasks that an edge between two names means; a name is a component's or a task's (``critic.train``)."""
    ones = [task for task in tasks if earlier in (task.component, str(task))]
    others = [task for task in tasks if later in (task.component, str(task))]
    for one in ones:
        for other in others:
            if one != other:
                yield one, other
