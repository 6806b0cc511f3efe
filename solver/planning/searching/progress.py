"""The budget of a search for designs, and what is reported while it runs."""

from __future__ import annotations

from time import monotonic
from typing import Callable

from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ..counting import NOW_AND_THEN, Counting, OnCounting
from .price import Price

PART, OPTION, MOST = 0.0001, 0.000001, 0.001
"""Deterministic seconds of a subproblem, more for each option of a component, and at most."""


class Progress:
    """Deterministic seconds spent, Ctrl-C and progress reports.

    Attributes
    ----------
    limit, spent : deterministic seconds.
    interrupt : raises KeyboardInterrupt after a Ctrl-C.
    part : deterministic seconds of one subproblem of a structure.
    """

    def __init__(self, question: Question, limit: float, interrupt: Callable[[], None], counting: OnCounting) -> None:
        self.limit, self.spent = limit, 0.0
        self.part = min(MOST, PART + OPTION * sum(map(len, question.options.values())))
        self._question, self.interrupt, self._counting = question, interrupt, counting
        self._began = self._told = monotonic()

    @property
    def left(self) -> float:
        """Deterministic seconds left."""
        return self.limit - self.spent

    def heed(self, best: Price | None, bound: Callable[[], Price]) -> None:
        """Raise KeyboardInterrupt after a Ctrl-C, and report the incumbent and the bound now and then."""
        self.interrupt()
        now = monotonic()
        if now - self._told >= NOW_AND_THEN:
            self._told = now
            by_time = self._question.aim == SECONDS
            held = 0 if by_time else self._question.held
            self._counting(Counting(by_time, best[0] + held if best else None, bound()[0] + held, now - self._began))
