"""The best designs of a question: structures by what they take at least, and for each the counts and degrees."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import islice
from time import monotonic
from typing import Callable, Iterator, Mapping, Sequence

from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from ..sandbox.interrupts import held
from ..sandbox.stopped import Stopped, interrupted, stoppable
from .candidates.candidate import Candidate
from .candidates.sight import Sight, Skip
from .costs.cost_model import CostModel
from .counting import NOW_AND_THEN, Counting, OnCounting, silent
from .searched import Found, Price, Searched
from .sizes.choice import Choice
from .sizes.settling import Settle, Settled, Undecided, Unsettled
from .structures.every import Arrangement

__all__ = ["Found", "Price", "Searched", "Skip", "search"]

FEW = 16
"""Accelerators up to which no solver is started, however long dividing takes."""
PARTS = 2_000
"""Parts of a structure that are looked at before a solver is asked."""
SPENT = 0.001
"""Deterministic seconds that one part counts for."""
PORTION = 100
"""Parts of a structure that are looked at before it is asked again which structure can be best."""
HURRIED = 8
"""Structures that are looked at once more where the time is over and nothing was found."""
MANY = 64
"""Arrangements from which on it is looked first at what any cut of them costs."""
UNCUT, SURE = 0.5, 0.75
"""The shares of all time after which this is done no longer, until one of the cheapest is looked at and from then on."""
BEGUN = 2
"""Structures of an arrangement that show what can be had, before the next arrangement is looked at."""


def search(
    question: Question, model: CostModel, limit: float = 10.0, seed: int = 1, count: int = 1, excluded: Sequence[Design] = (),
    settle: Settle | None = None, answer_interrupted: bool = False, skip: Skip | None = None,
    counting: OnCounting = silent,
) -> Searched:  # fmt: skip
    """The best designs of the `count` best structures, without those of `excluded`.

    A structure is not searched where what it takes at least is no better than what was found.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    settle : how structures are settled that dividing does not decide; None: by CP-SAT in a process of its own (solver/sandbox).
    skip : structures that are known to have no design that may be an answer.
    counting : told every now and then how the search stands.
    answer_interrupted : whether Ctrl-C ends the search alone, with what was found until then; else KeyboardInterrupt is raised.
    """
    stopped: Stopped | None = None
    with held() as interrupts:
        run = _Run(question, model, limit, seed, count, excluded, skip, interrupts.look, counting)
        try:
            run.look()
            run.divide()
        except KeyboardInterrupt:
            interrupts.look(2)
            stopped = interrupted()
    if stopped is None:
        try:
            with stoppable():
                run.settle(settle or _in_its_own_process)
        except Stopped as why:
            stopped = why
    if stopped is not None and stopped.interrupted and not answer_interrupted:
        raise KeyboardInterrupt from None
    return run.result(stopped)


def _in_its_own_process(asked: Unsettled) -> Iterator[Settled]:
    from ..sandbox.counts.settle import Settling

    return Settling()(asked)


class _Run:
    """One search: what it found, and what is proved."""

    def __init__(
        self,
        question: Question,
        model: CostModel,
        limit: float,
        seed: int,
        count: int,
        excluded: Sequence[Design],
        skip: Skip | None = None,
        interrupt: Callable[[], None] = lambda: None,
        counting: OnCounting = silent,
    ) -> None:
        self.question, self.model, self.seed, self.count = question, model, seed, count
        self.limit, self.spent = limit, 0.0
        self._interrupt, self._counting, self._began, self._told = interrupt, counting, monotonic(), monotonic()
        self._sight = Sight(question, model, excluded, skip, self._spend)
        self.unseen: Price | None = self._sight.at_least()
        """What structures cost at least that nobody looked at; None if there are none, or none that can be among the best."""
        self.least: Price = (0, 0)
        """What was told that no design costs less than."""
        self.open: list[Candidate] = []
        self.best: list[Found] = []
        """The best design of each of the best structures, the best first: one more than what is asked for."""

    def look(self) -> None:
        """Looks at every structure as a whole: what does it cost at least? Those that are cheapest by that show first what can be had.

        Of very many arrangements, those are passed over with all their structures that cannot be better however the iteration is cut.
        """
        every = self._sight.arrangements()
        waiting = list(islice(every, MANY + 1))
        if len(waiting) > MANY:
            most, least = self.question.budget.nanoseconds, self._sight.cut()
            self.least = max(self.least, (least, 0))
            if most is not None and least > most:
                self.unseen = None
                return
        waiting += every
        cut = self.spent >= self.limit
        kept = list(self._sight.kept(waiting))
        many = len(waiting) == len(kept) > MANY and self.model.full and not self.model.by_phase
        for floor, arrangement in self._cheapest_first(kept) if many else ((self._sight.at_least(), each) for each in kept):
            self.unseen = min(floor, self._sight.at_least()) if cut else floor
            self._open(arrangement, floor, begin=many)
            if self.spent >= self.limit:
                break
        else:
            self.unseen = self._sight.at_least() if cut else None

    def _open(self, arrangement: Arrangement, floor: Price, begin: bool) -> None:
        """Opens its structures, none of which costs less than `floor`. `begin`: the cheapest at first sight are searched at once."""
        found = list(self._sight.of(arrangement))
        for one in found:
            one.floor = max(one.floor, floor)
        self.open += found
        for one in sorted(found, key=lambda each: (each.floor, each.number))[:BEGUN] if begin else ():
            if self._can_be_better(one):
                self._look_at(one)

    def _cheapest_first(self, waiting: Sequence[Arrangement]) -> Iterator[tuple[Price, Arrangement]]:
        """Arrangements that can be among the best, by what any cut of them costs at least; and what none that is left costs less than.

        First of all the one that has most together of those that can have a design, which shows at once what can be had.
        """
        open_ = [(each.floor, each.number, each) for each in self._sight.uncut(waiting)]
        if open_:
            yield min(open_)[0], open_.pop(0)[2].arrangement
        heapify(open_)
        some = False
        while open_:
            floor, _, one = heappop(open_)
            if self._bar is not None and floor >= self._bar:
                return
            if one.looked or self.spent >= self.limit * (SURE if some else UNCUT):
                some = True
                yield floor, one.arrangement
                continue
            self.unseen = floor  # there is time left: all arrangements are known
            self._heed()
            self.spent += SPENT * one.look(self._bar, PORTION)
            if one.possible:
                heappush(open_, (one.floor, one.number, one))

    def _heed(self) -> None:
        """Where nothing is half said: a Ctrl-C is heard, and now and then it is told how the search stands."""
        self._interrupt()
        now = monotonic()
        if now - self._told >= NOW_AND_THEN:
            self._told = now
            floors = [each.floor for each in self.open if not each.proved and self._can_be_better(each)]
            floors += [self.unseen] if self.unseen is not None else []
            best = self.best[0].price if self.best else None
            bound = self.least = max(self.least, min([*floors, *([best] if best is not None else [])], default=(0, 0)))
            by_time = self.question.aim == SECONDS
            held = 0 if by_time else self.question.held
            self._counting(Counting(by_time, best[0] + held if best else None, bound[0] + held, now - self._began))

    def _spend(self, seconds: float) -> bool:
        """Whether there is time left after so many deterministic seconds."""
        self._heed()
        self.spent += seconds
        return self.spent < self.limit

    def divide(self) -> None:
        """Searches the counts and degrees of each structure, as far as they can be among the best: the one that could be best goes first."""
        asks = sum(kind.accelerators for kind in self.question.kinds) > FEW
        waiting, hurried = [(one.floor, one.number, one) for one in self.open], 0
        heapify(waiting)
        while waiting:
            *_, one = heappop(waiting)
            left = int((self.limit - self.spent) / SPENT)
            if one.proved or not self._can_be_better(one):
                one.proved = True
            elif left > 0 and (one.parts < PARTS or not asks):
                self._look_at(one, min(PORTION, left))
                if not one.proved:
                    heappush(waiting, (one.floor, one.number, one))
            elif left <= 0 and not self.best and hurried < HURRIED:
                self._look_at(one, 0)
                hurried += 1

    def _look_at(self, one: Candidate, parts: int = PORTION) -> None:
        self._heed()
        best = one.best
        self.spent += SPENT * one.look(self._below(one), parts)
        if one.best is not None and one.best is not best:
            self._found(one, one.best[1])

    def settle(self, settle: Settle) -> None:
        """Has a solver decide what is left."""
        left = {one.number: one for one in self.open if not one.proved and self._can_be_better(one)}
        if not left or self.spent >= self.limit:
            return
        asked = Unsettled(
            self.question,
            self.model.name,
            tuple(
                Undecided(one.number, one.sizing.structure, one.floor, one.found.price if one.found else None, one.excluded)
                for one in left.values()
            ),
            tuple(one.found.price for one in self.open if one.found is not None and one.number not in left),
            self.count,
            self.limit - self.spent,
            self.seed,
        )
        outcomes: list[Settled] = []
        try:
            for outcome in settle(asked):
                outcomes.append(outcome)
        finally:
            with held():
                self._take(left, outcomes)

    def _take(self, left: Mapping[int, Candidate], outcomes: Sequence[Settled]) -> None:
        for outcome in outcomes:
            one = left[outcome.number]
            self.spent += outcome.spent
            if outcome.places is not None:
                self._found(one, tuple(its[place] for its, place in zip(one.sizing.choices, outcome.places)))
            one.proved = outcome.proved
            one.floor = max(one.floor, (outcome.bound, 0))

    @property
    def _bar(self) -> Price | None:
        """What the next structure must be better than."""
        return self.best[self.count - 1].price if len(self.best) >= self.count else None

    def _can_be_better(self, one: Candidate) -> bool:
        """Could it hold a design that is among the best, and better than its own best one?"""
        bars = [price for price in (self._below(one), one.found.price if one.found else None) if price is not None]
        return not bars or one.floor < min(bars)

    def _below(self, one: Candidate) -> Price | None:
        """What a structure must be better than to be among the best."""
        others = [found.price for found in self.best[: self.count + 1] if found.number != one.number]
        return others[self.count - 1] if len(others) >= self.count else None

    def _found(self, one: Candidate, chosen: Sequence[Choice]) -> None:
        found = Found(one.sizing.price(chosen), one.number, one.sizing.design(chosen), one.sizing.structure)
        self.best = sorted([*(each for each in self.best if each is not one.found), found])[: self.count + 1]
        one.found = found

    def result(self, stopped: Stopped | None) -> Searched:
        """What was found and proved."""
        for each in self.open:  # what came between a candidate and its being told of
            if each.best is not None and (each.found is None or each.best[0] < each.found.price):
                self._found(each, each.best[1])
        found = tuple(self.best[: self.count])
        bar = found[-1].price if len(found) == self.count else None
        unproved = [each.floor[0] for each in self.open if not each.proved and (bar is None or each.floor < bar)]
        if self.unseen is not None and (bar is None or max(self.unseen, self.least) < bar):
            unproved.append(self.unseen[0])
        why = stopped if unproved else None
        counted = (sum(each.possible for each in self.open), sum(each.searched for each in self.open))
        bound = min([*unproved, *(each.price[0] for each in found[:1])], default=None)
        bound = None if bound is None else max(bound, self.least[0])
        return Searched(found, bound, not unproved, counted, self.spent, why)
