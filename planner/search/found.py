"""Result of a search for designs, its proof, and its budget."""

from __future__ import annotations

from dataclasses import field
from time import monotonic
from typing import Callable

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from ...solver.sandbox.stopped import Stopped
from ...solver.session import Session
from ..counting import NOW_AND_THEN, Counting, OnCounting
from .structures import BlockStructure

Price = tuple[int, int]
"""What is as small as possible, and what comes second: ns and accelerators, in the order of the aim."""
ENDLESS = 1 << 62
"""More ns, and more MiB, than anything takes."""


PART, OPTION, MOST = 0.0001, 0.000001, 0.001
"""Deterministic seconds of a subproblem, more for each option of a component, and at most."""


@dataclass(frozen=True, order=True)
class SearchResult:
    """The best design of one structure: what is as small as possible and what comes second (times in ns), and the structure's number."""

    price: Price
    number: int
    design: Design = field(compare=False)
    structure: BlockStructure = field(compare=False)


@dataclass(frozen=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    found : the best design of each of the best structures, the best first.
    bound : no design has a smaller first part of its price; None if there is no design at all, which is proved.
    proved : is what was found proved to be the best, and in this order?
    structures : how many structures can have a design at all, and of how many the counts were searched.
    spent : deterministic seconds.
    first_proved : is the first of it proved to be the best, whatever the order of the others? Without any: is there no design at all?
    stopped : why the search ended before it was decided; None if it came to its end or to its limit.
    """

    found: tuple[SearchResult, ...]
    bound: int | None
    proved: bool
    structures: tuple[int, int] = (0, 0)
    spent: float = 0.0
    stopped: Stopped | None = None
    first_proved: bool = False

    @property
    def best(self) -> SearchResult | None:
        """The best design."""
        return self.found[0] if self.found else None


class SearchProgress:
    """Deterministic seconds spent, Ctrl-C and progress reports.

    Attributes
    ----------
    limit, spent : deterministic seconds.
    session : what the search shares with others.
    interrupt : raises KeyboardInterrupt after a Ctrl-C.
    part : deterministic seconds of one subproblem of a structure.
    """

    def __init__(self, question: PlanningProblem, limit: float, session: Session, counting: OnCounting) -> None:
        self.limit, self.spent = limit, 0.0
        self.part = min(MOST, PART + OPTION * sum(map(len, question.options.values())))
        self._question, self.session, self._counting = question, session, counting
        self.interrupt: Callable[[], None] = session.look
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
            held = 0 if by_time else self._question.given.held
            self._counting(Counting(by_time, best[0] + held if best else None, bound()[0] + held, now - self._began))
