"""Where few cuts of the iteration can be among the best: the arrangements of each of them, by what they take at least with it."""

from __future__ import annotations

from typing import Callable, Sequence

from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..cuts.least import LeastCut
from ..cuts.multipliers import Times
from ..cuts.remembered import Recalled
from ..cuts.shared import SharedCut, Worth
from ..price import Price
from ..structures.at_once import Tasks
from ..structures.cutting import listed
from ..structures.every import Arrangement
from ..structures.structure import Structure
from .dividing import Dividing
from .improving import Improving
from .progress import Progress
from .sight import Sight
from .standing import Standing


class ByCut:
    """Looks at the structures of one cut after the other."""

    def __init__(
        self, question: Question, model: CostModel, cuts: LeastCut, sight: Sight, standing: Standing, improving: Improving,
        dividing: Dividing, progress: Progress, recalled: Recalled,
    ) -> None:  # fmt: skip
        self._question, self._model, self._cuts, self._sight = question, model, cuts, sight
        self._standing, self._improving, self._dividing, self._progress = standing, improving, dividing, progress
        self._worth = Worth(Times.asked(question, model), progress.spend, recalled)
        self._known: dict[tuple[Tasks, ...], SharedCut] = {}

    @property
    def can(self) -> bool:
        """Is anything known of the cuts of this question? Not where sets lie inside others, as these have accelerators in common, nor of none."""
        return self._cuts.known and not self._question.nested and bool(self._worth.times.accelerators)

    def look_at(self, cuts: Sequence[tuple[int, tuple[Tasks, ...]]], level: Price, is_over: Callable[[], bool]) -> None:
        """Looks at everything with one of these cuts that may cost less than this; each is given with the ns that it takes at least."""
        for time, parts in cuts:
            if is_over():
                break
            if (time, 0) < self._below(level):
                self._look_at(parts, level, is_over)

    def _below(self, level: Price) -> Price:
        """Only what costs less is looked at."""
        best = self._standing.best[0].price if self._standing.best else None
        return level if best is None else min(level, best)

    def may_take(self, parts: tuple[Tasks, ...], arrangement: Arrangement, most: int) -> bool:
        """May an arrangement take no more than so many ns with a cut of these parts?"""
        cut = self._cut(parts)
        placed = set(cut.order)
        return cut.may_take([its for its in arrangement.sets if its[0] in placed], most)

    def _cut(self, parts: tuple[Tasks, ...]) -> SharedCut:
        if parts not in self._known:
            self._known[parts] = SharedCut(self._worth, parts, [self._cuts.of_part(part) for part in parts])
        return self._known[parts]

    def _look_at(self, parts: tuple[Tasks, ...], level: Price, is_over: Callable[[], bool]) -> None:
        cut = self._cut(parts)

        def can_be(sets: Sequence[Sequence[str]]) -> bool:
            return not is_over() and cut.may_take(sets, most_of(self._below(level)))

        for arrangement in self._sight.arrangements(cut.order, can_be):
            self._open(arrangement, parts)
            if is_over():
                break

    def _open(self, arrangement: Arrangement, parts: Sequence[Tasks]) -> None:
        """Opens the structure of an arrangement with these parts, and begins with it."""
        segments = listed(self._question, self._model, arrangement.users, parts)
        if segments is None or self._model.refuses(self._question, arrangement.users, segments):
            return
        one = self._improving.look_at(Structure(arrangement.sets, arrangement.inside, segments))
        if one is not None and not one.proved and self._standing.can_be_better(one):
            self._dividing.look_at(one)


def most_of(below: Price) -> int:
    """ns that something takes at most that costs less."""
    return below[0] if below[1] > 0 else below[0] - 1
