"""Result of a search for designs, its proof, its budget, and its progress."""

from __future__ import annotations

from dataclasses import field
from time import monotonic
from typing import Callable

from ...models.planning.design import Design
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...models.record import dataclass
from ...solver.sandbox.end_reasons import SearchStopped
from ...solver.session import Session

Price = tuple[int, int]
"""Price in the order of the aim: (ns, accelerators) or (accelerators, ns)."""
ENDLESS = 1 << 62
"""Infinite ns or MiB."""
FREE, NOTHING = (0, 0), (ENDLESS, 0)
"""Prices below and above those of all designs."""
PART, OPTION, MOST = 0.0001, 0.000001, 0.001
"""Deterministic seconds of a subproblem: base, more per option, and maximum."""


@dataclass(frozen=True, order=True)
class SearchResult:
    """Best design of a structure: price (times in ns), structure number, design."""

    price: Price
    number: int
    design: Design = field(compare=False)


@dataclass(frozen=True)
class SearchOutcome:
    """Result of a search: incumbents, lower bound and proofs.

    Attributes
    ----------
    found : incumbents of the best structures, best first.
    bound : lower bound of the first part of all prices; None if infeasibility is proved.
    proved : True if the incumbents are proved the best, in this order.
    structures : number of possible structures, and of those with searched counts.
    first_proved : True if the first incumbent is proved the best; without incumbents, True if
        infeasibility is proved.
    stopped : reason of an early end; None at the end or the limit of the search.
    """

    found: tuple[SearchResult, ...]
    bound: int | None
    proved: bool
    structures: tuple[int, int] = (0, 0)
    spent: float = 0.0
    stopped: SearchStopped | None = None
    first_proved: bool = False

    @property
    def best(self) -> SearchResult | None:
        """Best design."""
        return self.found[0] if self.found else None


NOW_AND_THEN = 0.5
"""Seconds between two reports of a search."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Progress of a search for counts, degrees and sharing.

    `best` : incumbent, in ns of an iteration or in accelerators by the aim; None before the first.
    `bound` : lower bound, in the same unit. `seconds` : real time since the search began.
    """

    by_time: bool
    best: int | None
    bound: int
    seconds: float

    @property
    def gap(self) -> float | None:
        """Gap of the incumbent as a share of its price; None without an incumbent."""
        if self.best is None:
            return None
        return (self.best - self.bound) / self.best if self.best else 0.0


OnCounting = Callable[[Counting], None]
"""Callback for progress. An exception raised in it ends the search."""


class SearchProgress:
    """Deterministic seconds spent, Ctrl-C and progress reports.

    `limit`, `spent` : deterministic seconds. `part` : those of one subproblem of a structure.
    """

    def __init__(self, question: PlanningProblem, limit: float, session: Session, counting: OnCounting | None) -> None:
        self.limit, self.spent = limit, 0.0
        self.part = min(MOST, PART + OPTION * sum(map(len, question.options.values())))
        self._question, self.session, self._counting = question, session, counting
        self._began = self._reported_at = monotonic()

    @property
    def left(self) -> float:
        """Deterministic seconds left."""
        return self.limit - self.spent

    def report(self, best: Price | None, bound: Callable[[], Price]) -> None:
        """Raise KeyboardInterrupt after a Ctrl-C, and report the incumbent and the bound now and then."""
        self.session.look()
        now = monotonic()
        if self._counting is not None and now - self._reported_at >= NOW_AND_THEN:
            self._reported_at = now
            by_time = self._question.aim == SECONDS
            fixed_count = 0 if by_time else self._question.given.held
            self._counting(Counting(by_time, best[0] + fixed_count if best else None, bound()[0] + fixed_count, now - self._began))
