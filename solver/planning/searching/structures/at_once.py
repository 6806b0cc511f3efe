"""Which tasks can run at the same time, and which do in any case."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import combinations, permutations
from operator import or_

from .....models.planning.question import Question
from ...costs.cost_model import CostModel

Sets = tuple[tuple[str, ...], ...]
Tasks = int
"""Tasks as bits, the first of the question lowest."""
KNOWN = 1 << 14
"""Sets of tasks of which it is kept which they are: a search asks for the same ones again and again."""


def units(question: Question, apart: set[tuple[int, int]]) -> tuple[Tasks, ...]:
    """Each task by itself; of a round of which no two are `apart`, all together."""
    found = [1 << task for task in range(len(question.tasks))]
    for its in question.rounds:
        if apart.isdisjoint(combinations(sorted(its), 2)):
            members = sum(1 << task for task in its)
            joined = reduce(or_, (unit for unit in found if unit & members))
            found = [joined, *(unit for unit in found if not unit & joined)]
    return tuple(sorted(found, key=lambda unit: unit & -unit))


def conflicts(question: Question, model: CostModel, users: Sets) -> set[tuple[int, int]]:
    """(task, other task) that cannot run at the same time. Of a round no two can where some two cannot."""
    whole = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    shared = {(one, other) for its in (*users, *question.one_at_a_time) for one in its for other in its}
    found = set()
    for a, b in combinations(range(len(question.tasks)), 2):
        one, other = question.tasks[a].component, question.tasks[b].component
        if one == other or (not model.turns and (one, other) in shared):
            found |= {(a, b), (b, a)}
    for its in question.rounds:
        if any(pair in found or pair in whole for pair in combinations(sorted(its), 2)):
            found |= set(permutations(its, 2))
    return found


@lru_cache(maxsize=KNOWN)
def numbers(tasks: Tasks) -> tuple[int, ...]:
    """Which tasks they are, the first one first."""
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
