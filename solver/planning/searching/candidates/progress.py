"""How much of its time a search for designs has spent, and how it stands, as is told now and then."""

from __future__ import annotations

from time import monotonic
from typing import Callable

from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...counting import NOW_AND_THEN, Counting, OnCounting
from .standing import Standing

PART, OPTION, MOST = 0.0001, 0.000001, 0.001
"""Deterministic seconds that a part counts for, and more for each option of a component; and never more than that."""


def part_of(question: Question) -> float:
    """Deterministic seconds that a part of a structure counts for, whose counts are divided: the more options, the longer it takes."""
    return min(MOST, PART + OPTION * sum(map(len, question.options.values())))


class Progress:
    """The time of a search.

    Attributes
    ----------
    limit, spent : deterministic seconds.
    part : deterministic seconds that a part of a structure counts for.
    """

    def __init__(self, question: Question, limit: float, interrupt: Callable[[], None], counting: OnCounting) -> None:
        """`interrupt` raises KeyboardInterrupt where there was a Ctrl-C."""
        self.limit, self.spent = limit, 0.0
        self.part = part_of(question)
        self._question, self._interrupt, self._counting = question, interrupt, counting
        self._began = self._told = monotonic()
        self._standing: Standing | None = None

    def tells_of(self, standing: Standing) -> None:
        """From now on it is told how this stands."""
        self._standing = standing

    @property
    def left(self) -> float:
        """Deterministic seconds that are left."""
        return self.limit - self.spent

    def spend(self, seconds: float) -> bool:
        """Whether there is time left after so many deterministic seconds."""
        self.heed()
        self.spent += seconds
        return self.spent < self.limit

    def heed(self) -> None:
        """Where nothing is half said: a Ctrl-C is heard, and now and then it is told how the search stands."""
        self._interrupt()
        now = monotonic()
        if now - self._told >= NOW_AND_THEN and self._standing is not None:
            self._told = now
            best, bound = self._standing.best[0].price if self._standing.best else None, self._standing.bound()
            by_time = self._question.aim == SECONDS
            held = 0 if by_time else self._question.held
            self._counting(Counting(by_time, best[0] + held if best else None, bound[0] + held, now - self._began))
