"""Segmentations: every cut of an iteration into segments that run one after the other."""

from __future__ import annotations

from functools import lru_cache, reduce
from itertools import combinations, islice, permutations
from operator import or_
from typing import Iterator, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem
from ...models.record import dataclass

MOST, KNOWN = 200, 1_024
"""Ways that are kept where there are no more, and of how many pairs of tasks that cannot run together, and orders."""


Sets = tuple[tuple[str, ...], ...]
Tasks = int
"""Tasks as bits, the first of the question lowest."""
KNOWN = 1 << 14
"""Sets of tasks of which it is kept which they are: a search asks for the same ones again and again."""


def segmentations(question: PlanningProblem, model: CostModel, users: Sets) -> Iterator[tuple[int, ...]]:
    """Every way to divide the tasks into parts of the iteration of which no two could be one, each once: for each task its part.

    Of two parts that could be one, neither is tried: no cost model counts more for all of their tasks at once than for one part after the
    other, and neither memory nor accelerators depend on the parts. The same parts in another order take as long: they come in one order,
    in which of those that need not wait the one with the first task comes first.
    """
    tasks = range(len(question.tasks))
    if model.by_phase:
        yield tuple(model.segment(question, task) for task in tasks)
        return
    cutting = _Cutting.of(question, model, users)
    few = few_of(cutting)
    yield from cutting.segmentations() if few is None else few


@dataclass(frozen=True)
class _Part:
    """A part that was cut off.

    Attributes
    ----------
    tasks : that run in it.
    apart : the tasks of which none can run in it.
    after : the tasks that work on what it makes.
    waits : of the parts before it, as bits, those that end before it begins, whatever the order of parts.
    """

    tasks: Tasks
    apart: Tasks
    after: Tasks
    waits: int


@dataclass(frozen=True)
class _Cutting:
    """What can run at the same time.

    Attributes
    ----------
    units : tasks that run together in any case, by the first of each.
    apart : for each task, those that cannot run with it.
    before, after : for each task, those whose results it works on, and those that work on its own.
    """

    units: tuple[Tasks, ...]
    apart: tuple[Tasks, ...]
    before: tuple[Tasks, ...]
    after: tuple[Tasks, ...]

    @staticmethod
    def of(question: PlanningProblem, model: CostModel, users: Sets) -> _Cutting:
        """Of a question, with these components on the same accelerators."""
        count, edges = len(question.tasks), question.flow.edges
        apart = conflicts(question, model, users)
        either = {(edge.earlier, edge.later) for edge in edges if edge.whole} | {(edge.later, edge.earlier) for edge in edges if edge.whole}
        return _Cutting(
            units(question, apart),
            _beside(apart | either, count),
            _beside({(edge.later, edge.earlier) for edge in edges}, count),
            _beside({(edge.earlier, edge.later) for edge in edges}, count),
        )

    def segmentations(self) -> Iterator[tuple[int, ...]]:
        """Every cut: for each task its part."""
        for parts in self.cuts():
            yield tuple(next(number for number, its in enumerate(parts) if its >> task & 1) for task in range(len(self.apart)))

    def cuts(self) -> Iterator[tuple[Tasks, ...]]:
        """Every cut: its parts in their order."""

        def extend(left: Tasks, parts: tuple[_Part, ...]) -> Iterator[tuple[Tasks, ...]]:
            if not left:
                yield tuple(part.tasks for part in parts)
                return
            for tasks in self._together(left):
                part = self._part(tasks, parts)
                rest = left & ~tasks
                if part is not None and self._may_come(part, rest) and all(_can_stay(each, rest) for each in (*parts, part)):
                    yield from extend(rest, (*parts, part))

        return extend(reduce(or_, self.units, 0), ())

    def _may_come(self, part: _Part, left: Tasks) -> bool:
        """May a part come before the one with the first task that is left? That one must wait for something then."""
        first = left & -left
        return not left or part.tasks & -part.tasks < first or bool(_all(self.after, part.tasks | left) & left)

    def _together(self, left: Tasks) -> Sequence[Tasks]:
        """The tasks that can run next at the same time, the most first."""
        units = [unit for unit in self.units if unit & left]
        found = []

        def extend(place: int, tasks: Tasks, apart: Tasks, before: Tasks) -> None:
            for number in range(place, len(units)):
                unit = units[number]
                if not unit & apart:
                    its_apart, its_before = _all(self.apart, unit), _all(self.before, unit)
                    if not its_apart & (tasks | unit):
                        extend(number + 1, tasks | unit, apart | its_apart, before | its_before)
            if tasks and not before & left & ~tasks:
                found.append(tasks)

        extend(0, 0, 0, 0)
        return sorted(found, key=lambda its: (-its.bit_count(), numbers(its)))

    def _part(self, tasks: Tasks, parts: Sequence[_Part]) -> _Part | None:
        """These tasks as the next part; None if it could be one with a part before it, or come before that."""
        before, waits, far = _all(self.before, tasks), 0, 0
        for number, part in enumerate(parts):
            if part.tasks & before:
                waits |= part.waits | 1 << number
                far |= part.waits
        if any(not part.apart & tasks and not far >> number & 1 for number, part in enumerate(parts)):
            return None
        for part in reversed(parts):
            if part.tasks & before:
                break
            if part.tasks & -part.tasks > tasks & -tasks:
                return None
        return _Part(tasks, _all(self.apart, tasks), _all(self.after, tasks) & ~tasks, waits)


@lru_cache(maxsize=KNOWN)
def few_of(cutting: _Cutting) -> tuple[tuple[int, ...], ...] | None:
    """All segmentations, where there are few: most arrangements of a question leave the same pairs of tasks apart. None of more."""
    found = tuple(islice(cutting.segmentations(), MOST + 1))
    return found if len(found) <= MOST else None


def _can_stay(part: _Part, left: Tasks) -> bool:
    """Is there anything left that could keep a part from being one with another one?"""
    return not left or bool(part.apart & left or part.after)


def _all(of: Sequence[Tasks], tasks: Tasks) -> Tasks:
    """What is said of any of the tasks."""
    found = 0
    for task in numbers(tasks):
        found |= of[task]
    return found


def _beside(pairs: set[tuple[int, int]], count: int) -> tuple[Tasks, ...]:
    """For each task, the tasks that stand second beside it."""
    return tuple(reduce(or_, (1 << other for one, other in pairs if one == task), 0) for task in range(count))


def units(question: PlanningProblem, apart: set[tuple[int, int]]) -> tuple[Tasks, ...]:
    """Each task by itself; of a round of which no two are `apart`, all together."""
    found = [1 << task for task in range(len(question.tasks))]
    for its in question.flow.rounds:
        if apart.isdisjoint(combinations(sorted(its), 2)):
            members = sum(1 << task for task in its)
            joined = reduce(or_, (unit for unit in found if unit & members))
            found = [joined, *(unit for unit in found if not unit & joined)]
    return tuple(sorted(found, key=lambda unit: unit & -unit))


def conflicts(question: PlanningProblem, model: CostModel, users: Sets) -> set[tuple[int, int]]:
    """(task, other task) that cannot run at the same time. Of a round no two can where some two cannot."""
    whole = {(edge.earlier, edge.later) for edge in question.flow.edges if edge.whole}
    shared = {(one, other) for its in users for one in its for other in its}
    found = set()
    for a, b in combinations(range(len(question.tasks)), 2):
        one, other = question.tasks[a].component, question.tasks[b].component
        if one == other or (not model.turns and (one, other) in shared):
            found |= {(a, b), (b, a)}
    for its in question.flow.rounds:
        if any(pair in found or pair in whole for pair in combinations(sorted(its), 2)):
            found |= set(permutations(its, 2))
    return found


@lru_cache(maxsize=KNOWN)
def numbers(tasks: Tasks) -> tuple[int, ...]:
    """Which tasks they are, the first one first."""
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
