"""What any way to cut an iteration takes at least: each part of it by itself, on all accelerators, whoever shares them in other parts."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from typing import Callable, Iterator, Mapping, Sequence

from ....models.planning.question import NO_KIND, Edge, Option, Question, Task
from ....models.planning.workload import SECONDS
from ..costs.cost_model import CostModel
from ..sizes.branching import Branching
from ..sizes.choices import Choices
from ..sizes.curves import Curve
from ..sizes.sizing import Sizing
from ..structures.structure import OUTSIDE, Structure

Tasks = int
"""Tasks as bits, the first of the question lowest."""
BEFORE = 300
"""Sets of tasks that can come before all others, at most: of more, no cut is looked at."""
PARTS = (1, 50)
"""Parts in which it is searched what a part of the iteration takes at least: first, and where that would be the best cut."""
SPENT = 0.0005
"""Deterministic seconds that a part counts for that is looked at."""


class Cuts:
    """The cuts of a question, of a model in which tasks of one part of the iteration lie on different accelerators."""

    def __init__(self, question: Question, model: CostModel, spend: Callable[[float], bool]) -> None:
        """`spend` so many deterministic seconds: whether there is more time."""
        self._question, self._model, self._spend = question, model, spend
        self._most = sum(kind.accelerators for kind in question.kinds)
        if question.budget.accelerators is not None:
            self._most = min(self._most, question.budget.accelerators)
        self._known: dict[Tasks, tuple[int, int]] = {}
        """ns of a part at least, and how exactly it was looked at."""
        self._takes_up: dict[Tasks, tuple[int, ...]] = {}
        """Accelerators of the tasks of a part, as it was found good."""

    @property
    def known(self) -> bool:
        """Can anything be said of the cuts of this question?"""
        return not self._model.by_phase and self._model.full and self._question.aim == SECONDS and len(self._before) <= BEFORE

    def least(self) -> int:
        """No cut takes less, in ns; 0 where nothing is known.

        The shortest way from no task to all of them, over sets of tasks that can come before all others. What a part takes is looked at
        more and more exactly where it lies on that way, as long as there is time.
        """
        if not self.known:
            return 0
        while True:
            time, parts = self._shortest()
            open_ = [tasks for tasks in parts if self._known[tasks][1] < len(PARTS)]
            if not open_:
                return time
            for tasks in open_:
                known, exactly = self._known[tasks]
                self._known[tasks] = max(known, self._searched(tasks, PARTS[exactly])), exactly + 1
                if not self._spend(SPENT * (PARTS[exactly] + sum(len(self._options[task]) for task in _numbers(tasks)) / 100)):
                    return self._shortest()[0]

    def best(self) -> list[dict[int, int]]:
        """The parts of the cut that takes least by what is known: how many accelerators each of its tasks would have."""
        _, parts = self._shortest()
        return [dict(zip(_numbers(tasks), self._takes_up[tasks])) for tasks in reversed(parts) if tasks in self._takes_up]

    @cached_property
    def _before(self) -> Sequence[Tasks]:
        """Sets of tasks that can come before all others; one too many where there are very many."""
        earlier = [sum({1 << edge.earlier for edge in self._question.edges if edge.later == task}) for task in range(self._count)]
        found, seen = [0], {0}
        for tasks in found:
            for task in range(self._count):
                more = tasks | 1 << task
                if not tasks >> task & 1 and not earlier[task] & ~tasks and more not in seen:
                    seen.add(more)
                    found.append(more)
            if len(found) > BEFORE:
                break
        return found

    def _shortest(self) -> tuple[int, list[Tasks]]:
        """ns of the shortest way, and its parts."""
        every, waiting, best = (1 << self._count) - 1, [(0, 0)], {0: (0, 0)}
        while waiting:
            time, at = heappop(waiting)
            if at == every:
                break
            if time > best[at][0]:
                continue
            for beyond in self._after[at]:
                total = time + self._least(beyond & ~at)
                if beyond not in best or total < best[beyond][0]:
                    best[beyond] = total, at
                    heappush(waiting, (total, beyond))
        parts, at = [], every
        while at:
            parts.append(at & ~best[at][1])
            at = best[at][1]
        return best[every][0], parts

    @cached_property
    def _after(self) -> Mapping[Tasks, Sequence[Tasks]]:
        """For each set that can come before all others, the larger ones between which and it a part can run."""
        apart = {frozenset((edge.earlier, edge.later)) for edge in self._question.edges if edge.whole}
        names = [task.component for task in self._question.tasks]
        together = {frozenset(pair) for pair in self._question.together}

        def can_be(tasks: Tasks) -> bool:
            return not any(
                names[one] == names[other] or frozenset((names[one], names[other])) in together or frozenset((one, other)) in apart
                for one, other in combinations(_numbers(tasks), 2)
            )

        return {
            one: [other for other in self._before if one != other and not one & ~other and can_be(other & ~one)] for one in self._before
        }

    def _least(self, tasks: Tasks) -> int:
        """ns of a part at least, at first sight."""
        if tasks not in self._known:
            self._known[tasks] = self._at_sight(tasks), 0
        return self._known[tasks][0]

    def _at_sight(self, tasks: Tasks) -> int:
        """Each maximum by itself: the slowest task with what the others leave, and each chain as if its tasks were as fast as they can be."""
        curves, question, time = self._curves, self._question, 0
        for maximum in self._model.maxima(question, [(name,) for name in question.components], _numbers(tasks)):
            longest = max(sum(curves[task].least for task in its) for its in maximum.sums)
            slowest = self._slowest(_numbers(tasks), longest) if all(len(its) == 1 for its in maximum.sums) else 0
            time += maximum.weight * max(longest, slowest)
        return time

    def _slowest(self, tasks: Sequence[int], least: int) -> int:
        """The smallest value to which all of these can keep with the accelerators that there are."""
        curves = [self._curves[task] for task in tasks if self._takes(task)]
        values = range(least, max([least, *(curve.slowest for curve in curves)]) + 1)
        place = bisect_left(values, True, key=lambda value: sum(curve.needed(value) for curve in curves) <= self._most)
        return values[min(place, len(values) - 1)]

    def _searched(self, tasks: Tasks, parts: int) -> int:
        """The same by a search of the counts in so many parts."""
        its = _numbers(tasks)
        names, place = [f"{task}" for task in its], {task: number for number, task in enumerate(its)}
        edges = (
            Edge(place[edge.earlier], place[edge.later]) for edge in self._question.edges if {edge.earlier, edge.later} <= place.keys()
        )
        options = {name: self._options[task] for name, task in zip(names, its)}
        kinds = self._question.kinds
        part = Question(kinds, tuple(map(Task, names)), options, tuple(edges), batches=self._question.batches, budget=self._question.budget)
        structure = Structure(tuple((name,) for name in names), (OUTSIDE,) * len(its), (0,) * len(its))
        branching = Branching(Sizing(part, self._model, structure, Choices(part, self._model.divisor(part))))
        branching.search(None, parts)
        if branching.best is not None:
            self._takes_up[tasks] = tuple(choice.accelerators for choice in branching.best[1])
        return branching.floor[0] if branching.floor is not None else self._long

    @property
    def _count(self) -> int:
        return len(self._question.tasks)

    @cached_property
    def _long(self) -> int:
        """No iteration takes as long, in ns."""
        return 1 + sum(max((option.nanoseconds[0] for option in its), default=0) for its in self._options)

    @cached_property
    def _options(self) -> Sequence[tuple[Option, ...]]:
        """For each task, its ways to run, without what is no faster than one of the same kind with fewer accelerators; memory aside."""
        found = []
        for number, task in enumerate(self._question.tasks):
            place = self._question.tasks_of[task.component].index(number)
            found.append(tuple(_alone(self._question.options[task.component], place)))
        return found

    @cached_property
    def _curves(self) -> Sequence[Curve]:
        """The ns of each task in a batch."""
        batches = self._model.divisor(self._question)
        return [Curve(its, lambda option: option.nanoseconds[0] // batches) for its in self._options]

    def _takes(self, task: int) -> bool:
        return self._options[task][0].kind != NO_KIND


def _alone(options: Sequence[Option], place: int) -> Iterator[Option]:
    best: dict[int, int] = {}
    for option in sorted(options, key=lambda its: (its.accelerators, its.nanoseconds[place])):
        time = option.nanoseconds[place]
        if option.kind not in best or time < best[option.kind]:
            best[option.kind] = time
            yield Option(option.kind, option.amount, option.parallel, (time,))


def _numbers(tasks: Tasks) -> tuple[int, ...]:
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
