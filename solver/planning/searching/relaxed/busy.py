"""How long components work at least, on each number of accelerators, whatever their degrees and memory."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Collection, Iterator, Mapping, NamedTuple, Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.option import Option
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ..price import ENDLESS, Price
from ..sizes.choice import Amount

Work = Sequence[int]
"""ns of an iteration on each of the question's amounts; `ENDLESS` where it cannot be run so."""


class Room(NamedTuple):
    """What there is for an iteration."""

    nanoseconds: int
    accelerators: int


class Need(NamedTuple):
    """What some work takes of a room at least: accelerators, and accelerators x ns."""

    accelerators: int
    area: int


class Busy:
    """The work of a question's components, or of some of their tasks.

    Attributes
    ----------
    amounts : kinds and amounts, the fewest accelerators first.
    """

    def __init__(self, question: Question, tasks: Collection[int] | None = None) -> None:
        """`tasks`: those that are looked at; None: all."""
        self.question, self._tasks = question, tasks
        options = [option for its in question.options.values() for option in its if option.kind != NO_KIND]
        self.amounts: tuple[Amount, ...] = tuple(sorted({(option.kind, option.amount) for option in options}, key=lambda its: its[::-1]))

    @cached_property
    def of(self) -> Mapping[str, Work]:
        """The work of each component that takes accelerators."""
        place = {amount: number for number, amount in enumerate(self.amounts)}
        found: dict[str, Work] = {}
        for name, options in self.question.options.items():
            work = [ENDLESS] * len(self.amounts)
            for option in options:
                if option.kind != NO_KIND:
                    its = place[option.kind, option.amount]
                    work[its] = min(work[its], self._time(name, option))
            if not options or options[0].kind != NO_KIND:
                found[name] = tuple(work)
        return found

    @cached_property
    def beside(self) -> int:
        """ns of the longest work of a component that needs no accelerators, as short as it can be."""
        bare = ((name, its) for name, its in self.question.options.items() if its and its[0].kind == NO_KIND)
        return max((min(self._time(name, option) for option in its) for name, its in bare), default=0)

    @property
    def most(self) -> int:
        """How many accelerators may be used."""
        total, limit = self.question.accelerators, self.question.budget.accelerators
        return total if limit is None else min(total, limit)

    def rooms(self, below: Price | None) -> Iterator[Room]:
        """Every design that costs less than `below` keeps to one of these."""
        budget = self.question.budget.nanoseconds
        times = ENDLESS if budget is None else budget
        if below is None:
            yield Room(times, self.most)
        elif self.question.aim == SECONDS:
            yield Room(min(times, below[0] - 1), self.most)
            yield Room(min(times, below[0]), min(self.most, below[1] - 1))
        else:
            yield Room(times, min(self.most, below[0] - 1))
            yield Room(min(times, below[1] - 1), min(self.most, below[0]))

    def need(self, work: Work, room: Room) -> Need | None:
        """What work takes of a room at least; None if the room has no place for it."""
        last = bisect_left(self.amounts, room.accelerators + 1, key=lambda its: its[1])
        fewest, area = 0, ENDLESS
        for (_, accelerators), time in zip(self.amounts[:last], work):
            if time <= room.nanoseconds and time < ENDLESS:
                fewest = fewest or accelerators
                area = min(area, time * accelerators)
        return Need(fewest, area) if fewest else None

    def _time(self, name: str, option: Option) -> int:
        its = zip(self.question.tasks_of[name], option.nanoseconds)
        return sum(time for task, time in its if self._tasks is None or task in self._tasks)
