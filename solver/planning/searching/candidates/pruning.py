"""Very many arrangements: most are passed over before it is said where all components are."""

from __future__ import annotations

from itertools import count, islice
from typing import Sequence

from .....models.planning.kind import NO_KIND
from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ..cuts.least import LeastCut
from ..cuts.remembered import Recalled
from ..price import Price
from ..relaxed.busy import Busy
from ..relaxed.keeping import Keeping
from ..relaxed.least import least
from .by_cut import ByCut
from .by_sets import BySets
from .dividing import Dividing
from .improving import Improving
from .of_cuts import OfCuts
from .opening import Opening
from .progress import Progress
from .sight import Sight
from .standing import Standing

IMPROVED, PASSED = 0.2, 0.8
"""The shares of all time after which it is looked no longer for something good to begin with, and after which what is open is divided first."""
AROUND = 0.05
"""The share of all time in which it is looked for what differs little from the best."""
MANY = 200
"""Cuts from which on something good is looked for before they are looked at one by one."""
FEWER, ASKS = 6, 4
"""Arrangements are looked at and not cuts where there are so many times fewer; that is known by so many questions for each cut at most."""
TRIED = 3
"""Of so many it is looked whether something like them is better."""
STEP = 50
"""What is looked for first costs at most a so-manieth more than what anything does at least; then that much more, and so on."""
ASKED = 0.00003
"""Deterministic seconds that each question counts for whether components may be on the same accelerators."""


class Pruning:
    """Passes over arrangements of a model that is `full`, and looks at the structures of the others, as long as there is time.

    It looks for what costs little more than what is known of all designs. Where there is nothing, that is known of all designs; then it
    looks for what costs a little more, until that is no less than the best. As long as nothing is found, it goes twice as far each time.
    """

    def __init__(
        self, question: Question, model: CostModel, sight: Sight, standing: Standing, dividing: Dividing, progress: Progress,
        recalled: Recalled,
    ) -> None:  # fmt: skip
        self._question, self._model, self._sight = question, model, sight
        self._standing, self._dividing, self._progress = standing, dividing, progress
        self._improving = Improving(question, model, sight, standing, progress)
        self._keeping = Keeping(Busy(question), model)
        self._cuts = LeastCut(question, model, progress.spend, recalled)
        self._of_cuts = OfCuts(question, model, self._cuts, sight, progress.spend, recalled)
        self._by_cut = ByCut(self._of_cuts, standing, self._improving, dividing)
        by_sets = BySets(question, model, self._cuts, self._of_cuts, self._improving)
        self._opening = Opening(model, sight, standing, dividing, progress, self._improving, by_sets, lambda: self._bar, self._is_over)
        self._begun = False
        """Was something good looked for to begin with?"""
        self._level: Price | None = None
        """What is looked for costs less."""
        self._until, self._ended = PASSED * progress.limit, False

    def look(self) -> None:
        """Something good first; then whatever may be better than the best."""
        standing = self._standing
        floor = least(self._question, self._model)
        if floor is None:
            standing.unseen = None
            return
        standing.unseen = floor = max(floor, self._sight.at_least(), standing.least)
        if not self._of_cuts.can:
            self._begin(floor)
        if self._cuts.known and (self._best is None or floor < self._best):
            standing.unseen = floor = max(floor, (self._cuts.least(), 0))
            if not self._of_cuts.can:
                self._improve(floor)
            elif parts := self._cuts.best():
                self._improving.price(self._improving.like(parts))
        level, rise = floor[0], 0
        while not self._ended and (self._best is None or floor < self._best):
            rise = max(1, level // STEP, 2 * rise if self._best is None else 0)
            level = self._next(level + rise)
            self._level = self._up_to(level)
            self._look_below()
            if self._level is None or (self._allowed is not None and level > self._allowed):
                break
            if not self._ended:
                standing.unseen = floor = self._level
        if not self._ended:
            standing.unseen, standing.passed = None, self._best
            self._look_around()

    def _next(self, level: int) -> int:
        """The same, but no more than what keeps to the budget; all of that where any design will do that does."""
        if self._allowed is None:
            return level
        return self._allowed + 1 if self._standing.any_will_do else min(level, self._allowed + 1)

    def _up_to(self, level: int) -> Price | None:
        """What is looked for next, of what costs at most so much; None for all there is, where hardly anything could cost more."""
        if self._best is not None:
            return min(self._best, (level, 0))
        return (level, 0) if level <= self._much else None

    def _look_below(self) -> None:
        """Everything that may cost less than what is looked for."""
        if self._level is not None and self._of_cuts.can:
            cuts = self._cuts.within(self._level[0])
            if (cuts is None or len(cuts) > MANY) and not self._begun:
                self._begin(self._level)
                self._improve(self._level)
            if cuts is not None and not (len(cuts) > MANY and self._are_few(len(cuts))):
                self._by_cut.look_at(cuts, self._level, self._is_over)
                self._is_over()  # that there was no more time may have ended it
                return
        for arrangement in self._sight.arrangements(self._keeping.order, self._can_be):
            self._opening.look_at(arrangement)
            self._is_over()
        self._is_over()  # that there was no more time may have ended it

    def _are_few(self, cuts: int) -> bool:
        """Are there far fewer arrangements to be looked at than cuts, as is soon known?"""
        asks = count(1)

        def can_be(sets: Sequence[Sequence[str]]) -> bool:
            return next(asks) <= ASKS * cuts and self._can_be(sets)

        few = cuts // FEWER
        found = sum(1 for _ in islice(self._sight.arrangements(self._keeping.order, can_be), few + 1))
        return found <= few and next(asks) <= ASKS * cuts

    @property
    def _best(self) -> Price | None:
        return self._standing.best[0].price if self._standing.best else None

    @property
    def _bar(self) -> Price | None:
        return self._level if self._best is None or self._level is None else min(self._best, self._level)

    @property
    def _allowed(self) -> int | None:
        """What any design may cost; None where that is as much as it likes."""
        budget = self._question.budget
        return budget.nanoseconds if self._question.aim == SECONDS else budget.accelerators

    @property
    def _much(self) -> int:
        """No design costs more; what crosses the topology comes on top of it."""
        if self._question.aim != SECONDS:
            return self._question.accelerators
        return sum(max((sum(option.nanoseconds) for option in its), default=0) for its in self._question.options.values())

    def _is_over(self) -> bool:
        self._ended = self._ended or self._standing.ended
        if not self._ended and self._progress.spent >= self._until:
            self._ended = not self._goes_on()
        return self._ended

    def _goes_on(self) -> bool:
        """Is what is left of the time for further arrangements too? First of all it is for what is open, of those that were not passed over.

        Where nothing is found, it is for all that there is (see Looking); where a solver is to decide something, for that.
        """
        if self._best is None or self._until >= self._progress.limit:
            return False
        self._until = self._progress.limit
        self._dividing.all()
        return self._progress.left > 0 and not any(self._standing.can_be_better(one) for one in self._standing.open if not one.proved)

    def _begin(self, floor: Price) -> None:
        self._begun = True
        limit = self._progress.spent + IMPROVED * self._progress.limit
        for sets in self._improving.begin(limit)[:TRIED]:
            self._improving.improve(sets, floor, limit)

    def _improve(self, floor: Price) -> None:
        """Something good with the cut that takes least."""
        if parts := self._cuts.best():
            self._improving.improve(self._improving.like(parts), floor, self._progress.spent + IMPROVED * self._progress.limit)

    def _look_around(self) -> None:
        """Where more than the best is asked for, and fewer were found on the way: what differs little from the best."""
        standing = self._standing
        if standing.best and len(standing.best) < standing.count and not standing.ended:
            its = standing.best[0].structure.sets
            bare = {name for name, options in self._question.options.items() if options and options[0].kind == NO_KIND}
            around = tuple(each for each in its if bare.isdisjoint(each))
            self._improving.improve(around, (0, 0), self._progress.spent + AROUND * self._progress.limit)

    def _can_be(self, sets: Sequence[Sequence[str]]) -> bool:
        self._progress.spend(ASKED)
        if self._is_over():
            return False
        self._keeping.below(self._bar)
        return self._keeping.can_be(sets)
