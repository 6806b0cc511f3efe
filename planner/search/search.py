"""Best-first branch and bound over structures and over the choices of each structure.

Every structure has a lower bound, refined by the subproblems solved in it (`branching.py`). The
structure with the least bound goes next, until no bound is below the incumbent.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count as count_from
from typing import Iterator, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...solver.sandbox.stopped import Stopped, interrupted
from ...solver.session import Session
from ..counting import OnCounting, silent
from .bounds import Busiest, MemoryRelaxation
from .branching import Branching
from .choices import BlockChoice, BlockChoices
from .found import ENDLESS, Price, Searched, SearchProgress, SearchResult
from .sizing import Sizing
from .structures import OUTSIDE, Partition, arrangements

__all__ = ["SearchResult", "Price", "Searched", "search"]
STRUCTURE, BEGUN, LISTED = 0.0002, 0.00005, 0.000001
"""Deterministic seconds of a structure, a partial arrangement, and a kind and amount listed."""
LISTING = 0.5
"""Share of the limit after which no further arrangements are listed."""
ROOT, PORTION = 1, 100
"""Number of subproblems of a structure solved first, and per turn."""
COSTLY = 200
"""Number of options of all components from which on the memory relaxation is solved first."""
HURRIED = 8
"""Maximum number of structures tried after the limit while there is no design."""
FREE, NOTHING = (0, 0), (ENDLESS, 0)
"""Prices below and above those of all designs."""
RELAXED = 500
"""Maximum number of relaxed subproblems of a structure before the real ones are listed."""


def search(
    question: PlanningProblem, model: CostModel, limit: float = 10.0, count: int = 1, session: Session | None = None,
    counting: OnCounting = silent, any_will_do: bool = False,
) -> Searched:  # fmt: skip
    """Return the best design of each of the `count` best structures.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    counting : called now and then with incumbent and lower bound.
    any_will_do : stop at the first design.
    session : state shared with other searches. It decides if Ctrl-C ends the search with the
        incumbent, or raises KeyboardInterrupt.
    """
    stopped: Stopped | None = None
    session = session or Session()
    with session.raise_at(2):
        run = _Search(question, model, count, any_will_do, SearchProgress(question, limit, session, counting))
        try:
            run.divide()
        except KeyboardInterrupt:
            session.look(2)
            if not session.answers:
                raise
            stopped = interrupted()
    return run.result(stopped)


class _Search:
    """Open structures, incumbents, and the lower bound of all designs."""

    def __init__(self, question: PlanningProblem, model: CostModel, count: int, any_will_do: bool, progress: SearchProgress) -> None:
        self.question, self.model, self.count, self.progress = question, model, count, progress
        self.any_will_do = any_will_do
        self.ways = BlockChoices(question, model.divisor(question), progress.session)
        costly = sum(map(len, question.options.values())) >= COSTLY
        self.relaxation = MemoryRelaxation(question, model) if costly else None
        self.busiest = Busiest(self.relaxation.question if self.relaxation is not None else question)
        self.candidates: list[Candidate] = []
        self.best: list[SearchResult] = []
        self.unseen: Price | None = self._floor_of_all()
        """Lower bound of the arrangements that are not listed; None if all are."""
        self.least: Price = (0, 0)
        """Greatest lower bound of all designs so far."""
        self.numbers = count_from(0)
        self.arrangements: list[tuple[Price, int, Partition]] = []
        """Heap of arrangements not yet divided into structures."""
        self.uncut: Price | None = None
        """Lower bound of partly divided arrangements; None without any."""
        self.cutting: Price | None = None
        """Lower bound of the arrangement being divided."""

    # -- branch and bound

    def divide(self) -> None:
        """Branch on the least lower bound, up to the incumbent or the limit."""
        self.progress.heed(None, self.bound)
        self._list_arrangements()
        waiting = [(candidate.floor, candidate.number, candidate) for candidate in self.candidates]
        heapify(waiting)
        hurried = 0
        while (waiting or self.arrangements) and not (self.any_will_do and self.best):
            if self.arrangements and (not waiting or self.arrangements[0][0] <= waiting[0][0]):
                for candidate in self._cut(*heappop(self.arrangements)):
                    heappush(waiting, (candidate.floor, candidate.number, candidate))
                continue
            *_, candidate = heappop(waiting)
            if candidate.proved or not self._may_be_best(candidate):
                candidate.proved = True
            elif self.progress.left > 0:
                self._search(candidate, max(ROOT, min(PORTION, int(self.progress.left / self.progress.part))))
                heappush(waiting, (candidate.floor, candidate.number, candidate))
            elif not self.best and hurried < HURRIED:
                self._search(candidate, 0)
                hurried += 1

    def _list_arrangements(self) -> None:
        """Bound every arrangement, partial or whole, within a share of the limit."""
        progress, end, late = self.progress, LISTING * self.progress.limit, False

        def floor_of(sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> Price | None:
            floor = self.busiest.floor(sets, inside)
            return floor if floor is None or self.model.full else max(least, (0, 0))

        def can_be(sets: Sequence[Sequence[str]]) -> bool:
            # A component that joins a set may leave members unstarted, so that the set needs less
            # memory.
            return not late if idles else can_lie(sets, None if nested else (OUTSIDE,) * len(sets))

        def can_lie(sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> bool:
            nonlocal late
            progress.heed(self.best[0].price if self.best else None, self.bound)
            progress.spent += BEGUN
            late = late or (progress.spent > end and bool(self.candidates))
            floor = None if late else floor_of(sets, inside)
            return floor is not None and not self._is_cut_off(floor)

        nested, idles, least = self.question.sharing.nested, bool(self.question.idle.beside), self.unseen or (0, 0)
        for arrangement in arrangements(self.question, self.model, can_be, can_lie):
            progress.spent += STRUCTURE
            floor = floor_of(arrangement.sets, arrangement.inside)
            if floor is None or late:
                continue
            heappush(self.arrangements, (floor, next(self.numbers), arrangement))
            if not self.candidates or self.any_will_do:
                for candidate in self._cut(*heappop(self.arrangements)):
                    self._search(candidate, 0 if self.any_will_do or not self.best else ROOT)
                    if self.any_will_do and self.best:
                        return
        self.unseen = least if late else None

    def _cut(self, floor: Price, number: int, arrangement: Partition) -> Iterator[Candidate]:
        """Yield the structures of an arrangement that may have a design."""
        if self._is_cut_off(floor):
            return
        self.cutting = floor
        for candidate in self._structures(arrangement):
            candidate.floor = max(candidate.floor, floor)
            self.candidates.append(candidate)
            yield candidate
            if self.progress.left <= 0:
                self.uncut = min(floor, self.uncut or floor)
                break
        self.cutting = None

    def _structures(self, arrangement: Partition) -> Iterator[Candidate]:
        relaxation = self.relaxation if any(len(members) > 1 for members in arrangement.sets) else None
        for structure in arrangement.structures():
            self.progress.heed(self.best[0].price if self.best else None, self.bound)
            listed = self._listings()
            sizing = Sizing(self.question, self.model, structure, self.ways)
            is_possible = all((relaxation.sizing(structure) if relaxation is not None else sizing).choices)
            self.progress.spent += STRUCTURE + LISTED * (self._listings() - listed)
            if is_possible:
                yield Candidate(next(self.numbers), sizing, relaxation)

    def _listings(self) -> int:
        """Return the number of kinds and amounts listed for sets so far."""
        return self.ways.listed + (self.relaxation.ways.listed if self.relaxation is not None else 0)

    def _floor_of_all(self) -> Price:
        """Return the lower bound of all designs: the longest task on its best option."""
        options = [candidates for candidates in self.question.options.values() if candidates]
        used = max((min(option.accelerators for option in candidates) for candidates in options), default=0)
        used = max(used, sum(part.accelerators for part in self.question.given.shared))
        if self.question.aim != SECONDS:
            return used, 0
        times = (
            min(option.nanoseconds[place] for option in candidates)
            for candidates in options
            for place in range(len(candidates[0].nanoseconds))
        )
        return (max(times, default=0) if self.model.full else 0), 0

    def _search(self, candidate: Candidate, parts: int) -> None:
        self.progress.heed(self.best[0].price if self.best else None, self.bound)
        incumbent, listed = candidate.found, self._listings()
        self.progress.spent += self.progress.part * candidate.search(self._below(candidate), parts)
        self.progress.spent += LISTED * (self._listings() - listed)
        if candidate.found is not incumbent and candidate.found is not None:
            self._keep(candidate.found)

    def _keep(self, found: SearchResult) -> None:
        """Keep the best designs of the `count` best structures and of one more."""
        self.best = sorted([*(known for known in self.best if known.number != found.number), found])[: self.count + 1]

    def _below(self, candidate: Candidate) -> Price | None:
        """Return the cutoff of a structure: the price it must beat to be among the best."""
        rivals = [found.price for found in self.best if found.number != candidate.number]
        return rivals[self.count - 1] if len(rivals) >= self.count else None

    def _may_be_best(self, candidate: Candidate) -> bool:
        """Return True if a structure may improve on its incumbent and be among the best."""
        bars = [price for price in (self._below(candidate), candidate.found.price if candidate.found else None) if price is not None]
        return not bars or candidate.floor < min(bars)

    def _is_cut_off(self, floor: Price) -> bool:
        """Return True if this lower bound excludes a structure from the best."""
        return len(self.best) >= self.count and floor >= self.best[self.count - 1].price

    def _floors(self) -> list[Price]:
        """Return the lower bounds of all that is open."""
        floors = [candidate.floor for candidate in self.candidates if not candidate.proved] + [entry[0] for entry in self.arrangements[:1]]
        return floors + [floor for floor in (self.unseen, self.uncut, self.cutting) if floor is not None]

    def bound(self) -> Price:
        """Return the lower bound of all designs; it never falls."""
        self.least = max(self.least, min([*self._floors(), *(incumbent.price for incumbent in self.best[:1])], default=(0, 0)))
        return self.least

    def result(self, stopped: Stopped | None) -> Searched:
        """Return incumbents and proofs."""
        # Ctrl-C may come after a design is found and before it is kept.
        for candidate in self.candidates:
            if candidate.found is not None:
                self._keep(candidate.found)
        found = tuple(self.best[: self.count])
        bar = found[-1].price if len(found) == self.count else (ENDLESS, 0)
        floors = self._floors()
        unproved = [floor[0] for floor in floors if floor < bar]
        possible = [candidate for candidate in self.candidates if candidate.possible]
        return Searched(
            found, min([*unproved, *(incumbent.price[0] for incumbent in found[:1])], default=None), not unproved,
            (len(possible), sum(candidate.parts > 0 for candidate in possible)), self.progress.spent, stopped if unproved else None,
            first_proved=all(found and floor >= found[0].price for floor in floors),
        )  # fmt: skip


class Candidate:
    """A structure whose counts and degrees are searched.

    With a relaxation, the relaxed structure is searched first: only amounts that cost less than the
    incumbent there are listed and searched exactly.

    Attributes
    ----------
    floor : lower bound of all designs of the structure better than its incumbent.
    found : incumbent of the structure.
    parts : subproblems solved.
    proved : True if the structure has no better design among the best.
    possible : False if the structure has no design.
    """

    def __init__(self, number: int, sizing: Sizing, relaxation: MemoryRelaxation | None = None) -> None:
        self.number, self.sizing, self.floor = number, sizing, FREE
        self.found: SearchResult | None = None
        self.parts, self.proved, self.possible = 0, False, True
        self._relaxation = relaxation
        self._listed, self._unlisted = sizing, NOTHING
        """Listed choices of the real structure, and the lower bound of the unlisted rest."""
        self._branching: Branching | None = None

    def search(self, below: Price | None, parts: int) -> int:
        """Solve up to `parts` more subproblems below the cutoff; return the number solved.

        Without `parts`, the real structure is searched for any design.
        """
        branching = self._branching
        if branching is None:
            relaxed = self._relaxation.sizing(self.sizing.structure) if self._relaxation is not None else None
            branching = self._branching = Branching(relaxed) if relaxed is not None else Branching(self._listed)
            self.possible = self.possible and (branching.floor is not None or self._unlisted < NOTHING)
            solved = branching.parts + branching.crossing
        else:
            before = branching.parts
            branching.search(below, parts)
            solved = branching.parts - before
        self._raise(branching, below)
        if self._relaxation is not None:
            if parts == 0 or ((branching.decided or branching.parts >= RELAXED) and (below is None or self.floor < below)):
                solved += self._leave(self._relaxation, branching, below, parts)
        else:
            self.take(branching.best[1] if branching.best is not None else None)
            self.proved = branching.decided
        self.parts += solved
        return solved

    def _leave(self, relaxation: MemoryRelaxation, branching: Branching, below: Price | None, parts: int) -> int:
        """Go on with the real structure below the incumbent; return the solved subproblems."""
        best, solved = branching.best, 0
        if best is not None:
            real = relaxation.real(best, self.sizing)
            if real is not None:
                self.take(real[1])
            else:  # The same counts with other degrees cost hardly more.
                near = Branching(self.sizing.only(tuple((choice.amount,) for choice in best[1])))
                near.search(below, parts)
                self.take(near.best[1] if near.best is not None else None)
                solved = near.parts + near.crossing
        self._relaxation = self._branching = None
        if branching.decided and (best is None or (self.found is not None and self.found.price == best[0])):
            self.proved = True
            return solved
        if known := [price for price in (below, self.found.price if self.found else None) if price is not None]:
            cheaper, self._unlisted = relaxation.cheaper(self.sizing, min(known)), min(known)
            self._listed, self.proved = cheaper or self._listed, cheaper is None
        return solved

    def _raise(self, branching: Branching, below: Price | None) -> None:
        if branching.floor is not None:
            cut_off = below if below is not None and branching.decided else NOTHING
            self.floor = max(self.floor, min(branching.floor, self._unlisted, cut_off))

    def take(self, chosen: Sequence[BlockChoice] | None) -> None:
        """Keep these choices if they improve on the incumbent."""
        if chosen is not None and (self.found is None or self.sizing.price(chosen) < self.found.price):
            self.found = SearchResult(self.sizing.price(chosen), self.number, self.sizing.design(chosen), self.sizing.structure)
