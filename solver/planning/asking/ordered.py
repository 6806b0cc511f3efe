"""The tasks of a job, none before one that it works on."""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

from ....models.component import Component
from ....models.planning.question import Edge, Task
from ....models.planning.workload import Workload


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
    import networkx

    written = [Task(each.name, phase) for each in parts if each.timed for phase in each.timed.phases]
    place = {task: number for number, task in enumerate(written)}
    found = [(one, other, after.whole) for after in workload.after for one, other in _between(written, after.earlier, after.later)]
    graph = networkx.DiGraph([(one, other) for one, other, _ in found])
    graph.add_nodes_from(written)
    circles = [tuple(sorted(its, key=place.__getitem__)) for its in networkx.strongly_connected_components(graph)]
    of = {task: circle for circle in circles for task in circle}
    between = networkx.DiGraph([(of[one], of[other]) for one, other, _ in found if of[one] != of[other]])
    between.add_nodes_from(circles)
    in_turn = networkx.lexicographical_topological_sort(between, key=lambda circle: place[circle[0]])
    order = tuple(task for circle in in_turn for task in circle)
    index = {task: number for number, task in enumerate(order)}
    edges = [Edge(index[of[one][-1]], index[of[other][0]], whole) for one, other, whole in found if of[one] != of[other]]
    edges += [Edge(index[one], index[other]) for circle in circles for one, other in zip(circle, circle[1:])]
    rounds = sorted((frozenset(index[task] for task in circle) for circle in circles if len(circle) > 1), key=min)
    return Ordered(order, tuple(sorted(dict.fromkeys(edges), key=lambda each: (each.earlier, each.later))), tuple(rounds))


def _between(tasks: Sequence[Task], earlier: str, later: str) -> Iterator[tuple[Task, Task]]:
    """The pairs of tasks that an edge between two names means; a name is a component's or a task's (``critic.train``)."""
    ones = [task for task in tasks if earlier in (task.component, str(task))]
    others = [task for task in tasks if later in (task.component, str(task))]
    for one in ones:
        for other in others:
            if one != other:
                yield one, other
