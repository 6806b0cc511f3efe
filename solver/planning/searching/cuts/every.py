"""What an iteration takes at least however it is cut, whoever shares accelerators with whom: a bound on all structures at once."""

from __future__ import annotations

from functools import cached_property
from typing import Callable, Iterator, Sequence

from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.planning.workload import Budget
from ...costs.cost_model import CostModel
from ..price import ENDLESS
from ..structures.at_once import Tasks, numbers
from .alone import divided, options
from .order import After, after, apart, beginnings, shortest
from .remembered import Recalled
from .within import Within

MOST_TASKS = 9
"""Tasks up to which all cuts are looked at."""
PARTS = 100
"""Divisions of the counts of one part of the iteration that are looked at."""
JOINED = 0.000002
"""Deterministic seconds that it counts for to put one part after others."""
DIVIDED = 0.001
"""Deterministic seconds that one division counts for."""
MOST = 0.2
"""Deterministic seconds that all of it may take: what is known then is a bound as well."""


class EveryCut:
    """What each part of an iteration takes at least by itself, and what the cheapest sequence of parts comes to.

    Tasks of one part of the iteration run at the same time, each on accelerators of its own. With as many of them as there are, and
    with whatever counts are best for this part alone, it takes no less in any structure: what the components have in other parts, their
    memory, and who lies inside whom only make it longer.
    """

    def __init__(self, question: Question, model: CostModel, spend: Callable[[float], bool], recalled: Recalled | None = None) -> None:
        """`spend` so many deterministic seconds: whether there is more time. `recalled`: what earlier searches found of parts."""
        self._recalled = recalled or Recalled(question)
        self._question, self._model, self._spent, self._tell = question, model, 0.0, spend
        self._known: dict[Tasks, int] = {}
        self._exact: set[Tasks] = set()
        self._apart = apart(question)

    def _spend(self, seconds: float) -> bool:
        self._spent += seconds
        return self._tell(seconds) and self._spent < MOST

    @staticmethod
    def bound(question: Question, model: CostModel) -> bool:
        """Is anything known of cuts? Not where a phase says in which part a task runs, nor where tasks of a part take turns."""
        return not model.turns and not model.by_phase and len(question.tasks) <= MOST_TASKS and all(question.options.values())

    def least(self, enough: int | None = None) -> int:
        """ns that no design takes less of; it is looked at no longer once that is more than `enough`."""
        while True:
            takes, parts = self._cheapest()
            open_ = [part for part in parts if part not in self._exact]
            if not open_ or (enough is not None and takes > enough):
                return takes
            for part in open_:
                self._known[part] = max(self._known[part], self._by_division(part))
                self._exact.add(part)
            if not self._spend(DIVIDED):
                return self._cheapest()[0]

    def of(self, segments: Sequence[int]) -> int:
        """ns that no design takes less of whose tasks run in these parts."""
        parts: dict[int, Tasks] = {}
        for task, segment in enumerate(segments):
            parts[segment] = parts.get(segment, 0) | 1 << task
        return min(sum(self._value(part) for part in parts.values()), ENDLESS)

    def within(self, most: int) -> Within:
        """The cuts that may take no more ns than this."""

        def extend(left: Tasks, takes: int, parts: tuple[Tasks, ...]) -> Iterator[tuple[Tasks, ...]]:
            if not left:
                yield parts
                return
            first, others = left & -left, left & left - 1
            some = others
            while True:
                value = takes + self._value(first | some)
                if value <= most:
                    yield from extend(others & ~some, value, (*parts, first | some))
                if not some:
                    return
                some = some - 1 & others

        return Within(self._question, tuple(extend((1 << len(self._question.tasks)) - 1, 0, ())), self._spend)

    def _cheapest(self) -> tuple[int, list[Tasks]]:
        """The parts that come to the least, and what they come to, by what is known of each."""
        found = shortest(self._after, self._value)
        self._spend(JOINED * sum(map(len, self._after.values())))
        return min(found[0], ENDLESS), found[1]

    def _value(self, part: Tasks) -> int:
        if part not in self._known:
            self._known[part] = self._at_sight(part)
        return self._known[part]

    def _at_sight(self, part: Tasks) -> int:
        """By the quickest way to do each task, and by the work of all of them; `ENDLESS` for what cannot run at the same time."""
        tasks = numbers(part)
        if any(self._apart[task] & part for task in tasks):
            return ENDLESS
        divisor = self._model.divisor(self._question)
        users = [(self._question.tasks[task].component,) for task in tasks]
        maxima = self._model.maxima(self._question, users, tasks)
        takes = sum(each.weight * max(sum(self._quickest[task] // divisor for task in its) for its in each.sums) for each in maxima)
        work = sum(self._work[task] for task in tasks) if self._model.full else 0
        return max(takes, -(-work // self._all) if self._all else 0)

    def _by_division(self, part: Tasks) -> int:
        """By the counts that are best for this part alone."""
        tasks = numbers(part)
        if self._known[part] >= ENDLESS or len(tasks) == 1:
            return self._known[part]
        if (known := self._recalled.divided(part)) is not None:
            return known
        branching, _ = divided(self._question, self._model, part, self._options, Budget(self._question.budget.accelerators), PARTS)
        self._spend(DIVIDED * branching.parts)
        takes = branching.floor[0] if branching.floor is not None else ENDLESS
        self._recalled.tell_divided(part, takes)
        return takes

    @cached_property
    def _options(self) -> Sequence[tuple[Option, ...]]:
        return options(self._question)

    @cached_property
    def _after(self) -> After:
        return after(self._question, beginnings(self._question, 1 << MOST_TASKS))

    @cached_property
    def _quickest(self) -> Sequence[int]:
        """Of each task."""
        return [min(option.nanoseconds[0] for option in its) for its in self._options]

    @cached_property
    def _work(self) -> Sequence[int]:
        """Of each task the least ns that all its accelerators together work."""
        return [min(option.nanoseconds[0] * option.accelerators for option in its) for its in self._options]

    @cached_property
    def _all(self) -> int:
        most = self._question.budget.accelerators
        there = self._question.accelerators
        return there if most is None else min(most, there)
