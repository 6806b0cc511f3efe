"""The tasks of a job, none before one that it works on."""

from __future__ import annotations

from typing import Iterator, Sequence

from ....models.component import Component
from ....models.planning.question import Edge, Task
from ....models.planning.workload import Workload


def ordered(parts: Sequence[Component], workload: Workload) -> tuple[tuple[Task, ...], tuple[Edge, ...]]:
    """The tasks, none before one that it works on, and what works on what. Of a cycle what leads back is left out.

    Components that wait for each other in turn, as a simulator and its policy do, so become a chain in the written order.
    """
    import networkx

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
