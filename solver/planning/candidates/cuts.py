"""What an iteration takes at least however it is cut, whoever shares accelerators with whom: a bound on all structures at once."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations
from typing import Callable, Iterator, Sequence

from ....models.parallel import Parallel
from ....models.planning.question import NO_KIND, Edge, Option, Question, Task
from ....models.planning.workload import Budget
from ..costs.cost_model import CostModel
from ..searched import ENDLESS
from ..sizes.branching import Branching
from ..sizes.choices import Choices
from ..sizes.sizing import Sizing
from ..structures.structure import OUTSIDE, Structure

Tasks = int
"""Tasks as bits, the first of the question lowest."""
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


class Cuts:
    """What each part of an iteration takes at least by itself, and what the cheapest sequence of parts comes to.

    Tasks of one part of the iteration run at the same time, each on accelerators of its own. With as many of them as there are, and
    with whatever counts are best for this part alone, it takes no less in any structure: what the components have in other parts, their
    memory, and who lies inside whom only make it longer.
    """

    def __init__(self, question: Question, model: CostModel, spend: Callable[[float], bool]) -> None:
        """`spend` so many deterministic seconds: whether there is more time."""
        self._question, self._model, self._spent, self._tell = question, model, 0.0, spend
        self._known: dict[Tasks, int] = {}
        self._exact: set[Tasks] = set()
        self._before, self._apart = _before(question), _apart(question)

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

    def within(self, most: int) -> tuple[tuple[Tasks, ...], ...]:
        """The cuts that may take no more ns than this, without an order of their parts."""

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

        return tuple(extend((1 << len(self._question.tasks)) - 1, 0, ()))

    def allows(self, users: Sequence[Sequence[str]], cuts: Sequence[Sequence[Tasks]]) -> bool:
        """Does one of these cuts let no two run at the same time who share accelerators, where these use the same ones?"""
        tasks_of = {name: sum(1 << task for task in its) for name, its in self._question.tasks_of.items()}
        beside = [sum(tasks_of[other] for other in its if other != name) for its in users for name in its]
        pairs = [(tasks_of[name], others) for (name, others) in zip((name for its in users for name in its), beside) if others]
        return any(not any(part & one and part & others for part in parts for one, others in pairs) for parts in cuts)

    def _cheapest(self) -> tuple[int, tuple[Tasks, ...]]:
        """The parts that come to the least, and what they come to, by what is known of each."""
        every = (1 << len(self._question.tasks)) - 1
        best: dict[Tasks, tuple[int, tuple[Tasks, ...]]] = {0: (0, ())}
        looked = 0
        for done in range(every):
            if done not in best:
                continue
            takes, parts = best[done]
            for part in self._next(done, every & ~done):
                looked += 1
                value = takes + self._value(part)
                if done | part not in best or value < best[done | part][0]:
                    best[done | part] = value, (*parts, part)
        self._spend(JOINED * looked)
        return best.get(every, (ENDLESS, ()))

    def _next(self, done: Tasks, left: Tasks) -> Iterator[Tasks]:
        """What can run next at the same time: tasks of which none works on what is still to come after it."""
        part = left
        while part:
            if all(not self._before[task] & ~(done | part) for task in _numbers(part)):
                yield part
            part = part - 1 & left

    def _value(self, part: Tasks) -> int:
        if part not in self._known:
            self._known[part] = self._at_sight(part)
        return self._known[part]

    def _at_sight(self, part: Tasks) -> int:
        """By the quickest way to do each task, and by the work of all of them; `ENDLESS` for what cannot run at the same time."""
        tasks = _numbers(part)
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
        tasks = _numbers(part)
        if self._known[part] >= ENDLESS or len(tasks) == 1:
            return self._known[part]
        names = tuple(self._question.tasks[task].component for task in tasks)
        edges = (
            Edge(tasks.index(each.earlier), tasks.index(each.later), each.whole)
            for each in self._question.edges
            if each.earlier in tasks and each.later in tasks
        )
        alone = Question(
            self._question.kinds,
            tuple(Task(name) for name in names),
            {name: self._options(task) for name, task in zip(names, tasks)},
            tuple(edges),
            batches=self._question.batches,
            budget=Budget(self._question.budget.accelerators),
        )
        placed = [(name,) for name in names if alone.options[name][0].kind != NO_KIND]
        bare = [(name,) for name in names if alone.options[name][0].kind == NO_KIND]
        structure = Structure((*placed, *bare), (OUTSIDE,) * len(names), (0,) * len(names))
        branching = Branching(Sizing(alone, self._model, structure, Choices(alone, self._model.divisor(alone))))
        branching.search(None, PARTS)
        self._spend(DIVIDED * branching.parts)
        return branching.floor[0] if branching.floor is not None else ENDLESS

    def _options(self, task: int) -> tuple[Option, ...]:
        """The counts of a task with its shortest time on each; memory and degrees are no matter."""
        name = self._question.tasks[task].component
        place = self._question.tasks_of[name].index(task)
        found: dict[tuple[int, int], int] = {}
        for option in self._question.options[name]:
            key = option.kind, option.amount
            found[key] = min(found.get(key, ENDLESS), option.nanoseconds[place])
        return tuple(Option(kind, amount, Parallel(), (time,)) for (kind, amount), time in found.items())

    @cached_property
    def _quickest(self) -> Sequence[int]:
        """Of each task."""
        return [min(option.nanoseconds[0] for option in self._options(task)) for task in range(len(self._question.tasks))]

    @cached_property
    def _work(self) -> Sequence[int]:
        """Of each task the least ns that all its accelerators together work."""
        its = ([option.nanoseconds[0] * option.accelerators for option in self._options(task)] for task in range(len(self._question.tasks)))
        return [min(each) for each in its]

    @cached_property
    def _all(self) -> int:
        most = self._question.budget.accelerators
        there = sum(kind.accelerators for kind in self._question.kinds)
        return there if most is None else min(most, there)


def _before(question: Question) -> Sequence[Tasks]:
    """For each task, those whose results it works on."""
    found = [0] * len(question.tasks)
    for edge in question.edges:
        found[edge.later] |= 1 << edge.earlier
    return found


def _apart(question: Question) -> Sequence[Tasks]:
    """For each task, those that cannot run with it in any structure: of the same component, on its accelerators, or after all of it."""
    found = [0] * len(question.tasks)
    shared = question.together | question.within
    whole = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    for one, other in combinations(range(len(question.tasks)), 2):
        names = question.tasks[one].component, question.tasks[other].component
        if names[0] == names[1] or names in shared or names[::-1] in shared or (one, other) in whole or (other, one) in whole:
            found[one] |= 1 << other
            found[other] |= 1 << one
    return found


def _numbers(tasks: Tasks) -> tuple[int, ...]:
    return tuple(task for task in range(tasks.bit_length()) if tasks >> task & 1)
