"""The best designs of a question: structures by what they take at least, and for each the counts and degrees."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

from ...models.planning.design import Design
from ...models.planning.question import Question
from ...models.planning.workload import SECONDS
from ..sandbox.stopped import Stopped, interrupted
from .costs.cost_model import CostModel
from .searched import Found, Price, Searched
from .sizes.branching import Branching
from .sizes.choices import Choice, Choices
from .sizes.curves import Curves
from .sizes.least import busiest, least
from .sizes.settling import Settle, Settled, Undecided, Unsettled
from .sizes.sizing import Sizing
from .structures.every import Arrangement, arrangements
from .structures.structure import Structure

__all__ = ["Found", "Price", "Searched", "search"]

Skip = Callable[[Structure], bool]
FEW = 16
"""Accelerators up to which no solver is started, however long dividing takes."""
PARTS = 2_000
"""Parts of a structure that are looked at before a solver is asked."""
SPENT = 0.001
"""Deterministic seconds that one part counts for."""
MANY = 64
"""Arrangements from which on their work is looked at first."""
LOOK = 0.0005
"""Deterministic seconds that a first sight of a structure counts for."""


def search(
    question: Question, model: CostModel, limit: float = 10.0, seed: int = 1, count: int = 1, excluded: Sequence[Design] = (),
    settle: Settle | None = None, answer_interrupted: bool = False, skip: Skip | None = None,
) -> Searched:  # fmt: skip
    """The best designs of the `count` best structures, without those of `excluded`.

    A structure is not searched where what it takes at least is no better than what was found.

    Parameters
    ----------
    limit : in deterministic seconds: the same answer on any machine.
    settle : how structures are settled that dividing does not decide; None: by CP-SAT in a process of its own (solver/sandbox).
    skip : structures that are known to have no design that may be an answer.
    answer_interrupted : whether Ctrl-C ends the search alone, with what was found until then; else KeyboardInterrupt is raised.
    """
    run = _Run(question, model, limit, seed, count, excluded, skip)
    stopped: Stopped | None = None
    try:
        run.look()
        run.divide()
        run.settle(settle or _in_its_own_process)
    except Stopped as why:
        stopped = why
    except KeyboardInterrupt:
        stopped = interrupted()
    if stopped is not None and stopped.interrupted and not answer_interrupted:
        raise KeyboardInterrupt from None
    return run.result(stopped)


def _in_its_own_process(asked: Unsettled) -> Iterator[Settled]:
    from ..sandbox.counts.settle import Settling

    return Settling()(asked)


@dataclass
class _Open:
    """A structure in work: what it costs at least, and its best design until now. `proved`: nothing better in it could be among the best."""

    number: int
    sizing: Sizing
    floor: Price
    excluded: tuple[Design, ...]
    branching: Branching | None = None
    found: Found | None = None
    proved: bool = False


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
    ) -> None:
        self.question, self.model, self.seed, self.count, self.excluded, self.skip = question, model, seed, count, excluded, skip
        self.limit, self.spent, self.seen, self.searched = limit, 0.0, 0, 0
        self.unseen: Price | None = self._at_least()
        """What structures cost at least that nobody looked at; None if there are none, or none that can be among the best."""
        self.open: list[_Open] = []
        self._ways, self._curves = Choices(question, model.divisor(question)), Curves()
        self.best: list[Found] = []
        """The best design of each structure that has one, the best first."""

    def look(self) -> None:
        """Looks at every structure as a whole: what does it cost at least? Those that are cheapest by that show first what can be had.

        Of very many arrangements, those are passed over with all their structures that cannot be better however the iteration is cut.
        """
        waiting = list(arrangements(self.question, self.model))
        many = len(waiting) > MANY and self.model.full and not self.model.by_phase
        for floor, arrangement in self._by_work(waiting) if many else ((self._at_least(), each) for each in waiting):
            self.unseen = floor
            if many and self._bar is not None and floor >= self._bar:
                continue
            found = list(self._seen(arrangement))
            self.open += found
            if many:
                self._begin_all(found)
            if self.open and self.spent >= self.limit:
                break
        else:
            self.unseen = None
        if not many:
            self._begin_all(list(self.open))
        self._sort(self.open)

    def _at_least(self) -> Price:
        """What any design costs at least: one component has to do its work, and takes the fewest accelerators that it can."""
        options = [its for its in self.question.options.values() if its]
        used = max((min(option.accelerators for option in its) for its in options), default=0)
        if self.question.aim != SECONDS:
            return used, 0
        times = (min(option.nanoseconds[place] for option in its) for its in options for place in range(len(its[0].nanoseconds)))
        return (max(times, default=0) if self.model.full else 0), 0

    def _by_work(self, waiting: Sequence[Arrangement]) -> list[tuple[Price, Arrangement]]:
        """Arrangements by the work of their busiest set, without those that have no design."""
        found = []
        for number, each in enumerate(waiting):
            self.spent += LOOK
            floor = busiest(self._sizing(each.one_by_one, len(self.excluded)), self._curves)
            if floor is not None:
                found.append((floor, number, each))
        return [(floor, each) for floor, _, each in sorted(found, key=lambda its: its[:2])]

    def _seen(self, arrangement: Arrangement) -> Iterator[_Open]:
        """Its structures that can have a design, as long as there is time to look at them; the first one in any case."""
        for structure in arrangement.structures():
            if self.skip is not None and self.skip(structure):
                continue
            self.spent += LOOK
            out = tuple(design for design in self.excluded if structure.is_of(design))
            sizing = self._sizing(structure, len(out))
            floor = least(sizing, self._curves)
            self.seen += 1
            if floor is not None:
                yield _Open(self.seen, sizing, floor, out)
                if self.spent >= self.limit:
                    return

    def _sizing(self, structure: Structure, spare: int) -> Sizing:
        return Sizing(self.question, self.model, structure, self._ways, spare)

    def _begin_all(self, found: list[_Open]) -> None:
        self._sort(found)
        for one in found:
            if self._can_be_better(one):
                self._begin(one)

    def divide(self) -> None:
        """Searches the counts and degrees of each structure, as far as they can be among the best."""
        asks = sum(kind.accelerators for kind in self.question.kinds) > FEW
        for one in self.open:
            if one.branching is None or not self._can_be_better(one):
                one.proved = True
                continue
            self.searched += 1
            before, left = one.branching.parts, max(1, int((self.limit - self.spent) / SPENT))
            one.proved = one.branching.search(self._below(one), min(PARTS, left) if asks else left)
            self.spent += SPENT * (one.branching.parts - before)
            self._take(one)
            if not one.proved:
                one.floor = max(one.floor, one.branching.floor or one.floor)

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
        for outcome in settle(asked):
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

    @staticmethod
    def _sort(found: list[_Open]) -> None:
        found.sort(key=lambda each: (each.floor, each.number))

    def _begin(self, one: _Open) -> None:
        one.branching = Branching(one.sizing, lambda chosen: any(_is_same(one.sizing.design(chosen), each) for each in one.excluded))
        self.spent += SPENT * one.branching.parts
        if one.branching.floor is None:
            self.open.remove(one)
            return
        one.floor = max(one.floor, one.branching.floor)
        self._take(one)

    def _can_be_better(self, one: _Open) -> bool:
        """Could it hold a design that is among the best, and better than its own best one?"""
        bars = [price for price in (self._below(one), one.found.price if one.found else None) if price is not None]
        return not bars or one.floor < min(bars)

    def _below(self, one: _Open) -> Price | None:
        """What a structure must be better than to be among the best."""
        others = [found.price for found in self.best[: self.count + 1] if found.number != one.number]
        return others[self.count - 1] if len(others) >= self.count else None

    def _take(self, one: _Open) -> None:
        if one.branching is not None and one.branching.best is not None:
            self._found(one, one.branching.best[1])

    def _found(self, one: _Open, chosen: Sequence[Choice]) -> None:
        if one.found is not None:
            self.best.remove(one.found)
        one.found = Found(one.sizing.price(chosen), one.number, one.sizing.design(chosen), one.sizing.structure)
        insort(self.best, one.found)

    def result(self, stopped: Stopped | None) -> Searched:
        """What was found and proved."""
        found = tuple(self.best[: self.count])
        bar = found[-1].price if len(found) == self.count else None
        unproved = [each.floor[0] for each in self.open if not each.proved and (bar is None or each.floor < bar)]
        if self.unseen is not None and (bar is None or self.unseen < bar):
            unproved.append(self.unseen[0])
        why = None if stopped is None or not unproved else stopped.with_answer if found else stopped.without_answer
        counted = (len(self.open), self.searched)
        bound = min([*unproved, *(each.price[0] for each in found[:1])], default=None)
        return Searched(found, bound, not unproved, counted, self.spent, why)


def _is_same(one: Design, other: Design) -> bool:
    return (set(one.blocks), one.options, one.segments) == (set(other.blocks), other.options, other.segments)
