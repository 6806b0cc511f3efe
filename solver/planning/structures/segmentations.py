"""Every way to cut an iteration into parts that run one after the other, given who shares accelerators with whom."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Iterator, Sequence

from ....models.planning.question import Question
from ..costs.cost_model import CostModel

Sets = tuple[tuple[str, ...], ...]


def segmentations(question: Question, model: CostModel, users: Sets) -> Iterator[tuple[int, ...]]:
    """Every way to divide the tasks into parts of the iteration; of two parts that could be one, neither is tried.

    The same parts in another order take as long and as much memory: they come in one order alone.
    """
    tasks = range(len(question.tasks))
    if model.by_phase:
        yield tuple(model.segment(question, task) for task in tasks)
        return
    conflicts = _conflicts(question, model, users)
    at_once = [its for its in question.rounds if conflicts.isdisjoint(combinations(sorted(its), 2))]
    whole = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    before: dict[int, set[int]] = {task: set() for task in tasks}
    for edge in question.edges:
        before[edge.later].add(edge.earlier)
    seen: set[tuple[frozenset[frozenset[int]], frozenset[int]]] = set()
    given: set[frozenset[frozenset[int]]] = set()

    def extend(done: frozenset[int], last: frozenset[int], segments: tuple[frozenset[int], ...]) -> Iterator[tuple[int, ...]]:
        left = [task for task in tasks if task not in done]
        parts = frozenset(segments)
        if (parts, last) in seen:
            return
        seen.add((parts, last))
        if not left:
            if parts not in given:
                given.add(parts)
                place = {task: number for number, its in enumerate(segments) for task in its}
                yield tuple(place[task] for task in tasks)
            return
        for its in _parts(left, done, before, conflicts, whole, at_once):
            if not last or any((a, b) in conflicts or (a, b) in whole for a in last for b in its):
                yield from extend(done | its, its, (*segments, its))

    yield from extend(frozenset(), frozenset(), ())


def _parts(
    left: Sequence[int],
    done: frozenset[int],
    before: dict[int, set[int]],
    conflicts: set[tuple[int, int]],
    whole: set[tuple[int, int]],
    at_once: Sequence[frozenset[int]],
) -> Iterator[frozenset[int]]:
    """The sets of tasks that can run next at the same time, the largest first; all of each set that must, or none."""
    for size in range(len(left), 0, -1):
        for its in combinations(left, size):
            members = frozenset(its)
            if any(not members.isdisjoint(each) and not each <= members for each in at_once):
                continue
            pairs = [(a, b) for a, b in combinations(its, 2)]
            if not any(pair in conflicts or pair in whole for pair in pairs) and all(before[task] <= done | members for task in its):
                yield members


def _conflicts(question: Question, model: CostModel, users: Sets) -> set[tuple[int, int]]:
    """(task, other task) that cannot run at the same time. Of a round no two can where some two cannot."""
    whole = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    shared = {(one, other) for its in users for one in its for other in its}
    found = set()
    for a, b in combinations(range(len(question.tasks)), 2):
        one, other = question.tasks[a].component, question.tasks[b].component
        if one == other or (not model.turns and (one, other) in shared):
            found |= {(a, b), (b, a)}
    for its in question.rounds:
        if any(pair in found or pair in whole for pair in combinations(sorted(its), 2)):
            found |= set(permutations(its, 2))
    return found
