"""What any way to cut an iteration takes at least: each part of it by itself, on all accelerators, whoever shares them in other parts."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import islice
from typing import Callable, Iterator, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ..price import ENDLESS
from ..sizes.curve import Curve
from ..structures.at_once import Sets, Tasks, conflicts, numbers
from .alone import divided, options
from .order import After, after, apart, beginnings, shortest, within
from .remembered import Alone, Recalled

BEFORE = 300
"""Sets of tasks that can come before all others, at most: of more, no cut is looked at."""
PARTS = (1, 50)
"""Parts in which it is searched what a part of the iteration takes at least: first, and where that would be the best cut."""
CUTS = 2_000
"""Cuts that are looked at one by one, at most: of more, arrangements are."""
LISTED, JOINED = 0.00001, 0.0000005
"""Deterministic seconds that a cut counts for that is only listed, and each way to put one part after others."""
SPENT = 0.0005
"""Deterministic seconds that a part counts for that is looked at."""


class LeastCut:
    """The cuts of a question, of a model in which tasks of one part of the iteration lie on different accelerators."""

    def __init__(self, question: Question, model: CostModel, spend: Callable[[float], bool], recalled: Recalled | None = None) -> None:
        """`spend` so many deterministic seconds: whether there is more time. `recalled`: what earlier searches found of parts."""
        self._question, self._model, self._spend = question, model, spend
        self._recalled = recalled or Recalled(question)
        self._most = question.accelerators
        if question.budget.accelerators is not None:
            self._most = min(self._most, question.budget.accelerators)
        self._known: dict[Tasks, Alone] = {}
        self._takes_up: dict[Tasks, dict[int, int]] = {}
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
            open_ = [tasks for tasks in parts if self._known[tasks].exactly < len(PARTS)]
            if not open_:
                return time
            for tasks in open_:
                if not self._look_at(tasks, self._known[tasks].exactly):
                    return self._shortest()[0]

    def within(self, most: int) -> list[tuple[int, tuple[Tasks, ...]]] | None:
        """The cuts that may take no more than so many ns, those that take least first, each with what it takes at least; the same parts once.

        None where there are very many, or no time is left to say it of each of their parts.
        """
        while True:
            found = list(islice(within(self._after, self._least, most), CUTS + 1))
            if len(found) > CUTS:
                return None
            open_ = dict.fromkeys(part for _, parts in found for part in parts if self._known[part].exactly < len(PARTS))
            if not open_:
                return [(time, parts) for time, parts in sorted({frozenset(parts): (time, parts) for time, parts in found}.values())]
            for tasks in open_:
                if not self._look_at(tasks, len(PARTS) - 1):
                    return None

    def of_sets(self, users: Sets, most: int) -> Iterator[tuple[int, tuple[Tasks, ...]]]:
        """The same of the cuts in which no two tasks run at once whose components are on the same accelerators, in any order.

        None in which two parts could be one: that takes no longer. As long as there is time. `users`: the components on the accelerators of each set.
        """
        other, known = list(apart(self._question)), dict[Tasks, bool]()
        for one, its in conflicts(self._question, self._model, users):
            other[one] |= 1 << its

        def at_once(part: Tasks) -> bool:
            if part not in known:
                known[part] = not any(other[task] & part for task in numbers(part))
            return known[part]

        self._spend(JOINED * sum(map(len, self._after.values())))
        for _, parts in within(self._after, lambda part: self._least(part) if at_once(part) else ENDLESS, most, at_once):
            if not self._spend(LISTED):
                return
            time = sum(map(self._least, parts))
            for part in parts:
                if time <= most and self._known[part].exactly < len(PARTS):
                    time -= self._known[part].takes
                    if not self._look_at(part, len(PARTS) - 1):
                        return
                    time += self._known[part].takes
            if time <= most:
                yield time, parts

    def of_part(self, tasks: Tasks) -> int:
        """ns of a part at least, as far as it is known."""
        return self._least(tasks)

    def best(self) -> list[dict[int, int]]:
        """The parts of the cut that takes least by what is known: how many accelerators each of its tasks would have."""
        _, parts = self._shortest()
        return [self._takes_up[tasks] for tasks in parts if tasks in self._takes_up]

    def _look_at(self, tasks: Tasks, exactly: int) -> bool:
        """Searches what a part takes, more or less exactly; whether there is more time."""
        searched, parts = self._searched(tasks, PARTS[exactly])
        self._know(tasks, Alone(max(self._known[tasks].takes, searched), exactly + 1, self._takes_up.get(tasks)))
        return self._spend(SPENT * (parts + sum(len(self._options[task]) for task in numbers(tasks)) / 100))

    @cached_property
    def _before(self) -> Sequence[Tasks]:
        return beginnings(self._question, BEFORE)

    @cached_property
    def _after(self) -> After:
        return after(self._question, self._before)

    def _shortest(self) -> tuple[int, list[Tasks]]:
        """ns of the cut that takes least by what is known of each part, and its parts."""
        return shortest(self._after, self._least)

    def _least(self, tasks: Tasks) -> int:
        """ns of a part at least, at first sight."""
        if tasks not in self._known:
            if (known := self._recalled.alone(tasks)) is not None:
                self._known[tasks] = known
                if known.takes_up is not None:
                    self._takes_up[tasks] = known.takes_up
            else:
                self._know(tasks, Alone(self._at_sight(tasks), 0))
        return self._known[tasks].takes

    def _know(self, tasks: Tasks, its: Alone) -> None:
        self._known[tasks] = its
        self._recalled.tell(tasks, its)

    def _at_sight(self, tasks: Tasks) -> int:
        """Each maximum by itself: the slowest task with what the others leave, and each chain as if its tasks were as fast as they can be."""
        curves, question, time = self._curves, self._question, 0
        for maximum in self._model.maxima(question, [(name,) for name in question.components], numbers(tasks)):
            longest = max(sum(curves[task].least for task in its) for its in maximum.sums)
            slowest = self._slowest(numbers(tasks), longest) if all(len(its) == 1 for its in maximum.sums) else 0
            time += maximum.weight * max(longest, slowest)
        return time

    def _slowest(self, tasks: Sequence[int], least: int) -> int:
        """The smallest value to which all of these can keep with the accelerators that there are."""
        curves = [self._curves[task] for task in tasks if self._takes(task)]
        values = range(least, max([least, *(curve.slowest for curve in curves)]) + 1)
        place = bisect_left(values, True, key=lambda value: sum(curve.needed(value) for curve in curves) <= self._most)
        return values[min(place, len(values) - 1)]

    def _searched(self, tasks: Tasks, parts: int) -> tuple[int, int]:
        """The same by a search of the counts in so many parts; and at how many it looked."""
        branching, order = divided(self._question, self._model, tasks, self._options, self._question.budget, parts)
        if branching.best is not None:
            self._takes_up[tasks] = {task: choice.accelerators for task, choice in zip(order, branching.best[1])}
        return branching.floor[0] if branching.floor is not None else self._long, branching.parts

    @cached_property
    def _long(self) -> int:
        """No iteration takes as long, in ns."""
        return 1 + sum(max((option.nanoseconds[0] for option in its), default=0) for its in self._options)

    @cached_property
    def _options(self) -> Sequence[tuple[Option, ...]]:
        return options(self._question)

    @cached_property
    def _curves(self) -> Sequence[Curve]:
        """The ns of each task in a batch."""
        batches = self._model.divisor(self._question)
        return [Curve(its, lambda option: option.nanoseconds[0] // batches) for its in self._options]

    def _takes(self, task: int) -> bool:
        return self._options[task][0].kind != NO_KIND
