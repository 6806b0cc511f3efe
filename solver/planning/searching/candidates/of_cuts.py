"""The structures with each of some cuts of the iteration that may take no more than so much."""

from __future__ import annotations

from typing import Callable, Iterator, Sequence

from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..cuts.least import LeastCut
from ..cuts.multipliers import Times
from ..cuts.remembered import Recalled
from ..cuts.shared import SharedCut, Worth
from ..structures.at_once import Tasks
from ..structures.cutting import listed
from ..structures.every import Arrangement
from ..structures.structure import Structure
from .sight import Sight

Cut = tuple[int, tuple[Tasks, ...]]
"""What a cut takes at least, in ns, and its parts."""


class OfCuts:
    """Lists the structures of one cut after the other."""

    def __init__(
        self, question: Question, model: CostModel, cuts: LeastCut, sight: Sight, spend: Callable[[float], bool], recalled: Recalled
    ) -> None:
        """`spend` so many deterministic seconds: whether there is more time. `recalled`: what earlier searches found."""
        self._question, self._model, self._cuts, self._sight = question, model, cuts, sight
        self._worth = Worth(Times.asked(question, model), spend, recalled)
        self._known: dict[tuple[Tasks, ...], SharedCut] = {}

    @property
    def can(self) -> bool:
        """Is anything known of the cuts of this question? Not where sets lie inside others, as these have accelerators in common, nor of none."""
        return self._cuts.known and not self._question.nested and bool(self._worth.times.accelerators)

    def structures(self, cuts: Sequence[Cut], most: Callable[[], int], is_over: Callable[[], bool]) -> Iterator[Structure]:
        """Those with one of these cuts that may take no more ns than `most`, which is asked again and again; some of them more than once.

        Of structures that differ only in what they run apart without need, the one that runs it together: whatever times there are, it
        takes no longer.
        """
        for time, parts in cuts:
            if is_over():
                return
            if time <= most():
                yield from self._of(parts, most, is_over)

    def may_take(self, parts: tuple[Tasks, ...], arrangement: Arrangement, most: int) -> bool:
        """May an arrangement take no more than so many ns with a cut of these parts?"""
        cut = self._cut(parts)
        placed = set(cut.order)
        return cut.may_take([its for its in arrangement.sets if its[0] in placed], most)

    def _cut(self, parts: tuple[Tasks, ...]) -> SharedCut:
        if parts not in self._known:
            self._known[parts] = SharedCut(self._worth, parts, [self._cuts.of_part(part) for part in parts])
        return self._known[parts]

    def _of(self, parts: tuple[Tasks, ...], most: Callable[[], int], is_over: Callable[[], bool]) -> Iterator[Structure]:
        cut = self._cut(parts)

        def can_be(sets: Sequence[Sequence[str]]) -> bool:
            return not is_over() and cut.may_take(sets, most())

        for arrangement in self._sight.arrangements(cut.order, can_be):
            segments = listed(self._question, self._model, arrangement.users, parts)
            if segments is not None and not self._model.refuses(self._question, arrangement.users, segments):
                yield Structure(arrangement.sets, arrangement.inside, segments)
            if is_over():
                return
