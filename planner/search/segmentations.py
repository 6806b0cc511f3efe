"""Segmentations: every division of an iteration into segments that run one after another.

Only maximal segments are enumerated (no two can be merged), in one canonical order, with task sets
as bit masks.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import combinations, permutations
from operator import or_
from typing import Iterator, NamedTuple, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem

Sets = tuple[tuple[str, ...], ...]
Tasks = int
"""Set of tasks as a bit mask, the first task of the problem lowest."""
KNOWN = 1 << 14
"""Size of the cache by tasks; a search repeats the same sets."""


def segmentations(question: PlanningProblem, model: CostModel, users: Sets) -> Iterator[tuple[int, ...]]:
    """Yield each segmentation once, without mergeable segments: for each task its segment.

    Two mergeable segments are never better than one (dominance): no cost model counts more for all
    of their tasks at once than for one segment after the other, and neither memory nor accelerators
    depend on segments. The same segments in another order take as long: they come in one order, in
    which of segments that need not wait the one with the first task comes first.
    """
    tasks = range(len(question.tasks))
    if model.by_phase:
        yield tuple(model.segment(question, task) for task in tasks)
        return
    cutting = _Cutting(question, model, users)
    yield from cutting.extend(reduce(or_, cutting.units, 0), ())


class _Segment(NamedTuple):
    """A segment of a partial segmentation: its tasks, and the tasks that cannot run in it.

    `waits` : earlier segments that must end before this one in every order, as bits.
    """

    tasks: Tasks
    apart: Tasks
    waits: int


class _Cutting:
    """Conflicts and precedences of tasks.

    `units` : sets of tasks that always run together, by the first task of each. `apart` : for each
    task, the tasks in conflict with it. `before` : for each task, its predecessors.
    """

    def __init__(self, question: PlanningProblem, model: CostModel, users: Sets) -> None:
        count, edges, pairs_apart = len(question.tasks), question.flow.edges, conflicts(question, model, users)
        whole = {(edge.earlier, edge.later) for edge in edges if edge.whole}
        self.units = units(question, pairs_apart)
        self.apart = _pair_tasks(pairs_apart | whole | {(later, earlier) for earlier, later in whole}, count)
        self.before = _pair_tasks({(edge.later, edge.earlier) for edge in edges}, count)

    def extend(self, remaining: Tasks, parts: tuple[_Segment, ...]) -> Iterator[tuple[int, ...]]:
        """Yield every segmentation that begins with `parts`: for each task its segment."""
        if not remaining:
            segment_of = {task: number for number, part in enumerate(parts) for task in numbers(part.tasks)}
            yield tuple(segment_of[task] for task in range(len(self.apart)))
        for tasks in self._list_next(remaining):
            if (part := self._part(tasks, parts)) is not None:
                yield from self.extend(remaining & ~tasks, (*parts, part))

    def _list_next(self, remaining: Tasks) -> Sequence[Tasks]:
        """Return the task sets that can be the next segment, largest first."""
        units = [unit for unit in self.units if unit & remaining]
        candidates = []

        def extend(place: int, tasks: Tasks, excluded: Tasks, before: Tasks) -> None:
            for number in range(place, len(units)):
                unit = units[number]
                if not unit & excluded:
                    unit_apart, unit_before = _unite(self.apart, unit), _unite(self.before, unit)
                    if not unit_apart & (tasks | unit):
                        extend(number + 1, tasks | unit, excluded | unit_apart, before | unit_before)
            if tasks and not before & remaining & ~tasks:
                candidates.append(tasks)

        extend(0, 0, 0, 0)
        return sorted(candidates, key=lambda tasks: (-tasks.bit_count(), numbers(tasks)))

    def _part(self, tasks: Tasks, parts: Sequence[_Segment]) -> _Segment | None:
        """Return these tasks as the next segment; None if mergeable or movable."""
        before, waits, indirect_waits = _unite(self.before, tasks), 0, 0
        for number, part in enumerate(parts):
            if part.tasks & before:
                waits |= part.waits | 1 << number
                indirect_waits |= part.waits
        if any(not part.apart & tasks and not indirect_waits >> number & 1 for number, part in enumerate(parts)):
            return None
        for part in reversed(parts):
            if part.tasks & before:
                break
            if part.tasks & -part.tasks > tasks & -tasks:
                return None
        return _Segment(tasks, _unite(self.apart, tasks), waits)


def _unite(sets: Sequence[Tasks], tasks: Tasks) -> Tasks:
    """Return the union of these sets over the tasks."""
    union = 0
    for task in numbers(tasks):
        union |= sets[task]
    return union


def _pair_tasks(pairs: set[tuple[int, int]], count: int) -> tuple[Tasks, ...]:
    """Return, for each task, the tasks paired with it."""
    return tuple(reduce(or_, (1 << second for first, second in pairs if first == task), 0) for task in range(count))


def units(question: PlanningProblem, pairs_apart: set[tuple[int, int]]) -> tuple[Tasks, ...]:
    """Return the sets of tasks that always run together."""
    units = [1 << task for task in range(len(question.tasks))]
    for round_tasks in question.flow.rounds:
        if pairs_apart.isdisjoint(combinations(sorted(round_tasks), 2)):
            members = sum(1 << task for task in round_tasks)
            union = reduce(or_, (unit for unit in units if unit & members))
            units = [union, *(unit for unit in units if not unit & union)]
    return tuple(sorted(units, key=lambda unit: unit & -unit))


def conflicts(question: PlanningProblem, model: CostModel, users: Sets) -> set[tuple[int, int]]:
    """Return ordered pairs of tasks that cannot run together; a round conflicts as a whole."""
    whole = {(edge.earlier, edge.later) for edge in question.flow.edges if edge.whole}
    pairs_sharing = {(first, second) for names in users for first in names for second in names}
    pairs = set()
    for a, b in combinations(range(len(question.tasks)), 2):
        first, second = question.tasks[a].component, question.tasks[b].component
        if first == second or (not model.turns and (first, second) in pairs_sharing):
            pairs |= {(a, b), (b, a)}
    for round_tasks in question.flow.rounds:
        if any(pair in pairs or pair in whole for pair in combinations(sorted(round_tasks), 2)):
            pairs |= set(permutations(round_tasks, 2))
    return pairs


@lru_cache(maxsize=KNOWN)
def numbers(tasks: Tasks) -> tuple[int, ...]:
    """Return the indices of the tasks, ascending."""
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
