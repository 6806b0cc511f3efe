"""Best-first branch and bound over structures and over the choices of each structure.

Every arrangement and every structure has a lower bound, that of a structure refined by the
subproblems solved in it (`branching.py`). The one with the least bound goes next, until no bound is
below the incumbent: an arrangement is divided into its structures, a structure is searched.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count as count_from
from typing import Union

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem
from ...solver.sandbox.end_reasons import SearchStopped, report_interrupt
from ...solver.session import Session
from .bounds import Busiest, Sets, with_least_memory
from .branching import Branching
from .choices import BlockChoices
from .found import FREE, NOTHING, OnCounting, Price, SearchOutcome, SearchProgress, SearchResult
from .sizing import Sizing
from .structures import OUTSIDE, BlockStructure, Inside, arrangements, divide

STRUCTURE, BEGUN, LISTED = 0.0002, 0.00004, 0.000001
"""Deterministic seconds of a structure, a partial arrangement, and a kind and amount listed."""
FLAT = 0.25
"""Share of the limit after which nested arrangements are listed too."""
LISTING = 0.7
"""Share of the time left to list arrangements that may be among the best."""
ROOT, PORTION = 1, 100
"""Number of subproblems of a structure solved first, and per turn."""
COSTLY = 200
"""Least number of options for searches with relaxed memory first."""
Open = tuple[Price, bool, int, Union[BlockStructure, Branching]]
"""Lower bound, True for a structure, number, and what is open: an arrangement or a structure."""


def search(
    question: PlanningProblem, model: CostModel, limit: float = 10.0, count: int = 1, session: Session | None = None,
    counting: OnCounting | None = None, any_will_do: bool = False,
) -> SearchOutcome:  # fmt: skip
    """Return the best design of each of the `count` best structures.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    counting : called now and then with incumbent and lower bound.
    any_will_do : stop at the first design.
    session : state shared with other searches. It decides if Ctrl-C ends the search with the
        incumbent, or raises KeyboardInterrupt.
    """
    interrupt: SearchStopped | None = None
    session = session or Session()
    with session.raise_at(2):
        run = _Search(question, model, count, any_will_do, SearchProgress(question, limit, session, counting))
        try:
            run.divide()
        except KeyboardInterrupt:
            session.look(2)
            if not session.answers:
                raise
            interrupt = report_interrupt()
    return run.result(interrupt)


class _Search:
    """Open arrangements and structures, incumbents, and the lower bound of all designs."""

    def __init__(self, question: PlanningProblem, model: CostModel, count: int, any_will_do: bool, progress: SearchProgress) -> None:
        self.question, self.model, self.count, self.progress = question, model, count, progress
        self.any_will_do = any_will_do
        self.ways = BlockChoices(question, model.divisor(question), progress.session)
        self.relaxed = with_least_memory(question) if sum(map(len, question.options.values())) >= COSTLY else None
        self.relaxed_ways = BlockChoices(self.relaxed, model.divisor(question)) if self.relaxed is not None else self.ways
        self.busiest = Busiest(question, model, self.relaxed_ways)
        self.open: list[Open] = []
        """Heap; what is worked on is its first until that is done."""
        self.candidates: list[Branching] = []
        self.best: list[SearchResult] = []
        lower_bound = self.busiest.floor([(name,) for name in question.components], None) or FREE
        self.unseen: dict[bool, Price] = dict.fromkeys((False, True) if question.sharing.nested else (False,), lower_bound)
        """Lower bound of the arrangements that are not listed: of flat ones, and of nested ones."""
        self.late = False
        """True if no time was left to list all arrangements."""
        self.least: Price = (0, 0)
        """Greatest lower bound of all designs so far."""
        self.numbers = count_from(0)

    # -- branch and bound

    def divide(self) -> None:
        """Branch on the least lower bound, up to the incumbent or the limit."""
        self._report()
        for nesting in list(self.unseen):
            if not (self.any_will_do and self.best):
                self._list(nesting)
                self._branch(self.progress.limit if nesting == self.question.sharing.nested else FLAT * self.progress.limit)

    def _branch(self, until: float) -> None:
        """Branch on the least lower bound, until it is proved or time is out."""
        while self.open and self.progress.spent < until and not (self.any_will_do and self.best):
            floor, _, _, first = self.open[0]
            if isinstance(first, BlockStructure):
                if not self._is_cut_off(floor) and not self._cut(first, floor):
                    return
                heappop(self.open)
            elif not self._may_be_best(first):
                heappop(self.open)
            else:
                self._search(first, max(ROOT, min(PORTION, int(self.progress.left / self.progress.part))))
                heappop(self.open)
                self._push(first)

    def _push(self, candidate: Branching) -> None:
        if not candidate.proved:
            heappush(self.open, (candidate.floor, True, candidate.number, candidate))

    def _list(self, nesting: bool) -> None:
        """List arrangements that may be among the best, for a share of the time."""
        self.nested, self.late, self.until = nesting, False, self.progress.spent + LISTING * self.progress.left
        for arrangement in arrangements(self.question, self.model, nesting, self._can_be, self._can_lie):
            floor = self.busiest.floor(arrangement.sets, arrangement.inside)
            if floor is not None and not self.late:
                self._open(arrangement, floor)
        if not self.late:
            del self.unseen[nesting]

    def _open(self, arrangement: BlockStructure, floor: Price) -> None:
        """Keep an arrangement open; the first one is searched at once."""
        number, at_once = next(self.numbers), self.any_will_do or not self.candidates
        if not at_once or not (self._is_cut_off(floor) or self._cut(arrangement, floor, at_once)):
            heappush(self.open, (floor, False, number, arrangement))

    def _can_be(self, sets: Sets) -> bool:
        """Return False if no arrangement with these sets, or larger ones, is among the best."""
        # A component that joins a set may leave members unstarted, so that the set needs less memory.
        return not self.late if self.question.idle.beside else self._can_lie(sets, None if self.nested else (OUTSIDE,) * len(sets))

    def _can_lie(self, sets: Sets, parents: Inside | None) -> bool:
        """Return False if no forest that begins so is among the best."""
        self._report()
        self.progress.spent += BEGUN
        self.late = self.late or (self.progress.spent > self.until and bool(self.candidates))
        floor = None if self.late else self.busiest.floor(sets, parents)
        return floor is not None and not self._is_cut_off(floor)

    def _cut(self, arrangement: BlockStructure, floor: Price, at_once: bool = False) -> bool:
        """Open the structures of an arrangement; return False without time for all.

        `at_once` : True to search them first.
        """
        for structure in divide(self.question, self.model, arrangement):
            self._report()
            count_before, sizing, relaxation = self._listed_amounts(), Sizing(self.question, self.model, structure, self.ways), None
            if self.relaxed is not None and any(len(members) > 1 for members in structure.sets):
                relaxation = Sizing(self.relaxed, self.model, structure, self.relaxed_ways)
            is_possible = all((relaxation or sizing).choices)
            self.progress.spent += STRUCTURE + LISTED * (self._listed_amounts() - count_before)
            if is_possible:
                candidate = Branching(sizing, next(self.numbers), relaxation)
                candidate.floor = floor
                self.candidates.append(candidate)
                if at_once and not (self.any_will_do and self.best):
                    self._search(candidate, 0 if self.any_will_do or not self.best else ROOT)
                self._push(candidate)
                if self.progress.left <= 0:
                    return False
        return True

    def _listed_amounts(self) -> int:
        """Return the number of kinds and amounts listed for sets so far."""
        return self.ways.listed + self.relaxed_ways.listed

    def _report(self) -> None:
        self.progress.report(self.best[0].price if self.best else None, self.bound)

    def _search(self, candidate: Branching, parts: int) -> None:
        self._report()
        incumbent, count_before = candidate.found, self._listed_amounts()
        self.progress.spent += self.progress.part * candidate.search(self._find_cutoff(candidate), parts)
        self.progress.spent += LISTED * (self._listed_amounts() - count_before)
        if candidate.found is not incumbent and candidate.found is not None:
            self._keep(candidate.found)

    def _keep(self, new: SearchResult) -> None:
        """Keep the best designs of the `count` best structures and of one more."""
        self.best = sorted([*(incumbent for incumbent in self.best if incumbent.number != new.number), new])[: self.count + 1]

    def _find_cutoff(self, candidate: Branching) -> Price | None:
        """Return the cutoff of a structure: the price it must beat to be among the best."""
        rivals = [incumbent.price for incumbent in self.best if incumbent.number != candidate.number]
        return rivals[self.count - 1] if len(rivals) >= self.count else None

    def _may_be_best(self, candidate: Branching) -> bool:
        """Return True if a structure may improve on its incumbent and be among the best."""
        bars = [price for price in (self._find_cutoff(candidate), candidate.found.price if candidate.found else None) if price is not None]
        return not bars or candidate.floor < min(bars)

    def _is_cut_off(self, floor: Price) -> bool:
        """Return True if this lower bound excludes a structure from the best."""
        return len(self.best) >= self.count and floor >= self.best[self.count - 1].price

    def _floor(self) -> Price:
        """Return the lower bound of all that is open."""
        return min([*(entry[0] for entry in self.open[:1]), *self.unseen.values()], default=NOTHING)

    def bound(self) -> Price:
        """Return the lower bound of all designs; it never falls."""
        self.least = max(self.least, min([self._floor(), *(incumbent.price for incumbent in self.best[:1])]))
        return self.least

    def result(self, stopped: SearchStopped | None) -> SearchOutcome:
        """Return incumbents and proofs."""
        # Ctrl-C may come after a design is found and before it is kept.
        for candidate in self.candidates:
            if candidate.found is not None:
                self._keep(candidate.found)
        incumbents, floor = tuple(self.best[: self.count]), max(self._floor(), self.least)
        is_proved = floor >= (incumbents[-1].price if len(incumbents) == self.count else NOTHING)
        bounds = [*([] if is_proved else [floor[0]]), *(incumbent.price[0] for incumbent in incumbents[:1])]
        possible = [candidate for candidate in self.candidates if candidate.possible]
        return SearchOutcome(
            incumbents, min(bounds, default=None), is_proved, (len(possible), sum(candidate.parts > 0 for candidate in possible)),
            self.progress.spent, None if is_proved else stopped, first_proved=floor >= (incumbents[0].price if incumbents else NOTHING),
        )  # fmt: skip
