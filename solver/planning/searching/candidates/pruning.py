"""Very many arrangements: most are passed over before it is said where all components are."""

from __future__ import annotations

from itertools import count, islice
from typing import Sequence

from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ..cuts.least import LeastCut
from ..cuts.remembered import Recalled
from ..cuts.within import Within
from ..price import Price
from ..relaxed.busy import Busy
from ..relaxed.enclosing import Enclosing
from ..relaxed.keeping import Keeping
from ..relaxed.least import least
from ..structures.structure import users_of
from .beginning import BY_CUT, IMPROVED, Beginning
from .by_cut import ByCut
from .by_sets import BySets
from .dividing import Dividing
from .improving import Improving
from .of_cuts import OfCuts
from .opening import Opening
from .progress import Progress
from .sight import Sight
from .standing import Standing

PASSED = 0.8
"""The share of all time after which what is open is divided first."""
MANY = 200
"""Cuts from which on something good is looked for before they are looked at one by one."""
FEWER, ASKS = 6, 4
"""Arrangements are looked at and not cuts where there are so many times fewer; that is known by so many questions for each cut at most."""
STEP = 50
"""What is looked for first costs at most a so-manieth more than what anything does at least; then that much more, and so on."""
ASKED = 0.00003
"""Deterministic seconds that each question counts for whether components may be on the same accelerators, or inside each other's."""
ALLOWED = 0.00001
"""The same where it is only asked whether a cut allows it."""


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
        self._enclosing = Enclosing(self._keeping)
        self._cuts = LeastCut(question, model, progress.spend, recalled)
        self._of_cuts = OfCuts(question, model, self._cuts, sight, progress.spend, recalled)
        self._by_cut = ByCut(self._of_cuts, standing, self._improving, dividing)
        by_sets = BySets(question, model, self._cuts, self._of_cuts, self._improving)
        self._beginning = Beginning(question, self._cuts, self._improving, standing, progress)
        self._opening = Opening(model, sight, standing, dividing, progress, self._improving, by_sets, lambda: self._bar, self._is_over)
        self._level: Price | None = None
        """What is looked for costs less."""
        self._within: Within | None = None
        """The cuts of a nested question that may cost less than what is looked for; None where that is not known."""
        self._others = False
        """Is it known what is best, and are those looked for that are asked for beside it?"""
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
            self._beginning.look(floor)
        if self._cuts.known and (self._best is None or floor < self._best):
            standing.unseen = floor = max(floor, (self._cuts.least(), 0))
            if not self._of_cuts.can:
                self._beginning.by_the_cut(floor)
            elif parts := self._cuts.best():
                self._improving.price(self._improving.like(parts))
        level, rise = floor[0], 0
        while not self._ended and (self._best is None or floor < self._best):
            rise = max(1, level // STEP, 2 * rise if self._best is None else 0)
            level = self._next(level + rise, rise // 2)
            self._level = self._up_to(level)
            self._look_below()
            if self._level is None or (self._allowed is not None and level > self._allowed):
                break
            if not self._ended:
                standing.unseen = floor = self._level
        if not self._ended:
            standing.unseen, standing.passed = None, self._best
            self._beginning.look_around()

    def look_for_others(self) -> None:
        """After that: whatever is among those that are asked for beside the best, so that these are proved too, as far as there is time."""
        standing = self._standing
        if self._ended or standing.unseen is not None or standing.count == 1 or not standing.best:
            return
        self._others, self._level = True, standing.bar
        self._opening.again()
        self._look_below()
        if not self._ended:
            standing.passed = standing.bar

    def _next(self, level: int, near: int) -> int:
        """The same, or the best where that costs hardly more; no more than what keeps to the budget, all of that where any design will do that does."""
        if self._best is not None and level < self._best[0] <= level + near:
            level = self._best[0] + 1
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
            if (cuts is None or len(cuts) > MANY) and not self._beginning.begun:
                share = IMPROVED if cuts is None else BY_CUT
                self._beginning.look(self._level, share)
                self._beginning.by_the_cut(self._level, share)
            if cuts is not None and not (len(cuts) > MANY and self._are_few(len(cuts))):
                self._by_cut.look_at(cuts, self._level, self._is_over)
                self._is_over()  # that there was no more time may have ended it
                return
        self._allow()
        can_lie = self._can_lie if self._question.nested else None
        for arrangement in self._sight.arrangements(self._keeping.order, self._can_be, can_lie):
            self._opening.look_at(arrangement)
            self._is_over()
        self._is_over()  # that there was no more time may have ended it

    def _allow(self) -> None:
        """Of a nested question: from now on only what one of the cuts allows that may cost less than what is looked for."""
        known = self._question.nested and self._level is not None and self._cuts.known
        cuts = self._cuts.within(self._level[0]) if known and self._level is not None else None
        self._within = None if cuts is None else Within(self._question, [parts for _, parts in cuts], self._progress.spend)

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
        """The best, or the last of those that are asked for where the others are looked for; None where there are not so many."""
        if self._others:
            return self._standing.bar
        return self._standing.best[0].price if self._standing.best else None

    @property
    def _bar(self) -> Price | None:
        return min((price for price in (self._best, self._level) if price is not None), default=None)

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

    def _can_be(self, sets: Sequence[Sequence[str]]) -> bool:
        return self._is_allowed(sets) and self._may_ask() and self._keeping.can_be(sets)

    def _can_lie(self, sets: Sequence[Sequence[str]], inside: Sequence[int]) -> bool:
        return self._is_allowed(sets, inside) and self._may_ask() and self._enclosing.can_lie(sets, inside)

    def _is_allowed(self, sets: Sequence[Sequence[str]], inside: Sequence[int] = ()) -> bool:
        """Is there a cut in which none run at the same time who share accelerators, as far as it is known where these sets lie?"""
        if self._within is None:
            return True
        self._progress.spend(ALLOWED)
        return not self._is_over() and self._within.allows(users_of(sets, inside))

    def _may_ask(self) -> bool:
        """Is there time for one more question, which is of what is better than all that is known by now?"""
        self._progress.spend(ASKED)
        if self._is_over():
            return False
        self._keeping.below(self._bar)
        return True
