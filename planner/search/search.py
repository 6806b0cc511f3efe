"""Best-first search over structures and parts of a structure.

A structure says who shares accelerators with whom, and what runs at the same time. Each has a lower bound; the structure
with the least is divided until none is left below the best designs known.
"""

from __future__ import annotations

from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain, islice
from itertools import count as count_from
from typing import Iterator, Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...solver.sandbox.stopped import Stopped, interrupted
from ...solver.session import Session
from .bounds import Busiest, Relaxation
from .branching import Branching
from .choices import Choice, Choices
from .found import ENDLESS, Found, OnCounting, Price, Progress, Searched, silent
from .sizing import Sizing
from .structures import OUTSIDE, Arrangement, arrangements

__all__ = ["Found", "Price", "Searched", "search"]

STRUCTURE, BEGUN, LISTED = 0.0002, 0.00005, 0.000001
"""Deterministic seconds of a structure, of an arrangement begun, and of each kind and amount listed for a set of components."""
LISTING = 0.5
"""Share of the limit after which no further arrangements are listed."""
ROOT, PORTION = 1, 100
"""Subproblems of a structure solved first, and in one turn."""
COSTLY = 200
"""Options of all components from which on structures are bounded by less memory before what fits is listed."""
HURRIED = 8
"""Structures looked at once more where the limit is over and nothing was found."""


FREE, NOTHING = (0, 0), (ENDLESS, 0)
"""Prices that no design is below, and that every design is below."""
RELAXED = 500
"""Subproblems of the relaxed structure, at most, before the real one is listed."""


def search(
    question: PlanningProblem, model: CostModel, limit: float = 10.0, count: int = 1, session: Session | None = None,
    counting: OnCounting = silent, any_will_do: bool = False,
) -> Searched:  # fmt: skip
    """Find the best designs of the `count` best structures.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    counting : receives the progress now and then.
    any_will_do : stop at the first design.
    session : what this search shares with others; it says whether Ctrl-C ends the search with what
        was found, or raises KeyboardInterrupt.
    """
    stopped: Stopped | None = None
    session = session or Session()
    with session.raise_at(2):
        run = _Search(question, model, count, any_will_do, Progress(question, limit, session, counting))
        try:
            run.divide()
        except KeyboardInterrupt:
            session.look(2)
            if not session.answers:
                raise
            stopped = interrupted()
            if not run.best:
                run.progress.interrupt = partial(session.look, 2)
                run.hurry()
    return run.result(stopped)


class _Search:
    """Structures, the best designs of them, and what is proved of both."""

    def __init__(self, question: PlanningProblem, model: CostModel, count: int, any_will_do: bool, progress: Progress) -> None:
        self.question, self.model, self.count, self.progress = question, model, count, progress
        self.any_will_do = any_will_do
        self.ways = Choices(question, model.divisor(question), progress.session)
        costly = sum(map(len, question.options.values())) >= COSTLY
        self.relaxation = Relaxation(question, model) if costly else None
        self.busiest = Busiest(self.relaxation.question if self.relaxation is not None else question)
        self.candidates: list[Candidate] = []
        self.best: list[Found] = []
        self.unseen: Price | None = self._floor_of_all()
        """Lower bound of the structures that are not listed; None: all are."""
        self.least: Price = (0, 0)
        """The greatest lower bound of all designs so far."""
        self.numbers = count_from(0)
        self.arrangements: list[tuple[Price, int, Arrangement]] = []
        """A heap of those that are not cut into structures yet."""
        self.uncut: Price | None = None
        """Lower bound of the structures of arrangements that were cut in part; None: there are none."""
        self.cutting: Price | None = None
        """Lower bound of the arrangement whose structures are being listed."""

    # -- branch and bound

    def divide(self) -> None:
        """Divide what has the least lower bound until the incumbent meets it or the limit is over: arrangements, then their structures."""
        self.progress.heed(None, self.bound)
        self._list_arrangements()
        waiting = [(one.floor, one.number, one) for one in self.candidates]
        heapify(waiting)
        hurried = 0
        while (waiting or self.arrangements) and not (self.any_will_do and self.best):
            if self.arrangements and (not waiting or self.arrangements[0][0] <= waiting[0][0]):
                for one in self._cut(*heappop(self.arrangements)):
                    heappush(waiting, (one.floor, one.number, one))
                continue
            *_, one = heappop(waiting)
            if one.proved or not self._may_be_best(one):
                one.proved = True
            elif self.progress.left > 0:
                self._search(one, max(ROOT, min(PORTION, int(self.progress.left / self.progress.part))))
                heappush(waiting, (one.floor, one.number, one))
            elif not self.best and hurried < HURRIED:
                self._search(one, 0)
                hurried += 1

    def hurry(self) -> None:
        """Look at a few structures, so that there is an answer after a Ctrl-C, if there is one."""
        listed = sorted(self.candidates, key=lambda each: (each.floor, each.number))
        more = (one for each in arrangements(self.question, self.model) for one in self._structures(each))
        for one in islice(chain(listed, more), HURRIED):
            for _ in range(HURRIED):
                one.search(None, 0)
                if one.found is not None:
                    self.candidates, self.best = [*self.candidates, one], [one.found]
                    return

    def _list_arrangements(self) -> None:
        """Bound every arrangement, begun or whole, as long as a share of the limit lasts; the first that may have a design is searched at once."""
        progress, end, late = self.progress, LISTING * self.progress.limit, False

        def floor_of(sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> Price | None:
            found = self.busiest.floor(sets, inside)
            return found if found is None or self.model.full else max(least, (0, 0))

        def can_be(sets: Sequence[Sequence[str]]) -> bool:
            # A component that joins a set may leave others of it unstarted, so that the set needs less memory.
            return not late if idles else can_lie(sets, None if nested else (OUTSIDE,) * len(sets))

        def can_lie(sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> bool:
            nonlocal late
            progress.heed(self.best[0].price if self.best else None, self.bound)
            progress.spent += BEGUN
            late = late or (progress.spent > end and bool(self.candidates))
            floor = None if late else floor_of(sets, inside)
            return floor is not None and not self._is_cut_off(floor)

        nested, idles, least = self.question.sharing.nested, bool(self.question.idle.beside), self.unseen or (0, 0)
        for each in arrangements(self.question, self.model, can_be, can_lie):
            progress.spent += STRUCTURE
            floor = floor_of(each.sets, each.inside)
            if floor is None or late:
                continue
            heappush(self.arrangements, (floor, next(self.numbers), each))
            if not self.candidates or self.any_will_do:
                for one in self._cut(*heappop(self.arrangements)):
                    self._search(one, 0 if self.any_will_do or not self.best else ROOT)
                    if self.any_will_do and self.best:
                        return
        self.unseen = least if late else None

    def _cut(self, floor: Price, number: int, arrangement: Arrangement) -> Iterator[Candidate]:
        """The structures of an arrangement that may have a design."""
        if self._is_cut_off(floor):
            return
        self.cutting = floor
        for one in self._structures(arrangement):
            one.floor = max(one.floor, floor)
            self.candidates.append(one)
            yield one
            if self.progress.left <= 0:
                self.uncut = min(floor, self.uncut or floor)
                break
        self.cutting = None

    def _structures(self, arrangement: Arrangement) -> Iterator[Candidate]:
        relaxation = self.relaxation if any(len(its) > 1 for its in arrangement.sets) else None
        for structure in arrangement.structures():
            self.progress.heed(self.best[0].price if self.best else None, self.bound)
            listed = self._listings()
            sizing = Sizing(self.question, self.model, structure, self.ways)
            is_possible = all((relaxation.sizing(structure) if relaxation is not None else sizing).choices)
            self.progress.spent += STRUCTURE + LISTED * (self._listings() - listed)
            if is_possible:
                yield Candidate(next(self.numbers), sizing, relaxation)

    def _listings(self) -> int:
        """Kinds and amounts of sets listed so far."""
        return self.ways.listed + (self.relaxation.ways.listed if self.relaxation is not None else 0)

    def _floor_of_all(self) -> Price:
        """Lower bound of every design: some component has to do its work, on as few accelerators as it can."""
        options = [its for its in self.question.options.values() if its]
        used = max((min(option.accelerators for option in its) for its in options), default=0)
        used = max(used, sum(each.accelerators for each in self.question.given.shared))
        if self.question.aim != SECONDS:
            return used, 0
        times = (min(option.nanoseconds[place] for option in its) for its in options for place in range(len(its[0].nanoseconds)))
        return (max(times, default=0) if self.model.full else 0), 0

    def _search(self, one: Candidate, parts: int) -> None:
        self.progress.heed(self.best[0].price if self.best else None, self.bound)
        before, listed = one.found, self._listings()
        self.progress.spent += self.progress.part * one.search(self._below(one), parts)
        self.progress.spent += LISTED * (self._listings() - listed)
        if one.found is not before and one.found is not None:
            self._keep(one.found)

    def _keep(self, found: Found) -> None:
        """Keep the best designs of as many structures as are asked for, and of one more."""
        self.best = sorted([*(each for each in self.best if each.number != found.number), found])[: self.count + 1]

    def _below(self, one: Candidate) -> Price | None:
        """What a structure must be better than to be among the best."""
        others = [found.price for found in self.best if found.number != one.number]
        return others[self.count - 1] if len(others) >= self.count else None

    def _may_be_best(self, one: Candidate) -> bool:
        """Could it have a design that is among the best, and better than the best known of it?"""
        bars = [price for price in (self._below(one), one.found.price if one.found else None) if price is not None]
        return not bars or one.floor < min(bars)

    def _is_cut_off(self, floor: Price) -> bool:
        """Is what costs no less than this not among the best?"""
        return len(self.best) >= self.count and floor >= self.best[self.count - 1].price

    def _floors(self) -> list[Price]:
        """Lower bounds of all that is open."""
        floors = [each.floor for each in self.candidates if not each.proved] + [each[0] for each in self.arrangements[:1]]
        return floors + [each for each in (self.unseen, self.uncut, self.cutting) if each is not None]

    def bound(self) -> Price:
        """No design costs less."""
        self.least = max(self.least, min([*self._floors(), *(each.price for each in self.best[:1])], default=(0, 0)))
        return self.least

    def result(self, stopped: Stopped | None) -> Searched:
        """What was found and proved."""
        for one in self.candidates:  # a Ctrl-C may come between a design and its being kept
            if one.found is not None:
                self._keep(one.found)
        found = tuple(self.best[: self.count])
        bar = found[-1].price if len(found) == self.count else (ENDLESS, 0)
        floors = self._floors()
        unproved = [floor[0] for floor in floors if floor < bar]
        counted = (sum(each.possible for each in self.candidates), sum(each.possible and each.parts > 0 for each in self.candidates))
        return Searched(
            found,
            bound=min([*unproved, *(each.price[0] for each in found[:1])], default=None),
            proved=not unproved,
            structures=counted,
            spent=self.progress.spent,
            stopped=stopped if unproved else None,
            first_proved=all(found and floor >= found[0].price for floor in floors),
        )


class Candidate:
    """A structure whose counts and degrees are searched as far as it may be among the best.

    With a relaxation, that is searched first: only what costs less than the incumbent there is listed and searched as it really is.

    Attributes
    ----------
    floor : lower bound of what is better than its best design, and may be among the best.
    found : the best design so far.
    parts : subproblems solved.
    proved : nothing better in it may be among the best.
    possible : False where it has no design at all.
    """

    def __init__(self, number: int, sizing: Sizing, relaxation: Relaxation | None = None) -> None:
        self.number, self.sizing, self.floor = number, sizing, FREE
        self.found: Found | None = None
        self.parts, self.proved, self.possible = 0, False, True
        self._relaxation = relaxation
        self._listed, self._unlisted = sizing, NOTHING
        """What is listed of the real structure, and the lower bound of the rest."""
        self._branching: Branching | None = None

    def search(self, below: Price | None, parts: int) -> int:
        """Solve so many subproblems more, at first the root alone; returns how many were solved.

        Designs that cost no less than `below` are cut off. With no `parts` the real structure is looked at, for any design of it.
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

    def _leave(self, relaxation: Relaxation, branching: Branching, below: Price | None, parts: int) -> int:
        """Go on with the real structure, on what may cost less than the incumbent; returns the subproblems solved for an incumbent."""
        best, solved = branching.best, 0
        if best is not None:
            real = relaxation.real(best, self.sizing)
            if real is not None:
                self.take(real[1])
            else:  # the same counts with other degrees cost hardly more
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

    def take(self, chosen: Sequence[Choice] | None) -> None:
        """Keep these choices if they are better."""
        if chosen is not None and (self.found is None or self.sizing.price(chosen) < self.found.price):
            self.found = Found(self.sizing.price(chosen), self.number, self.sizing.design(chosen), self.sizing.structure)
