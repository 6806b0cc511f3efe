"""Where very many cuts of the iteration can be among the best: of one arrangement, the structures with those that its sets leave."""

from __future__ import annotations

from typing import Callable, Iterator

from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..cuts.least import LeastCut
from ..price import ENDLESS, Price
from ..structures.at_once import Tasks
from ..structures.cutting import listed
from ..structures.every import Arrangement
from ..structures.structure import Structure
from .by_cut import most_of
from .improving import Improving
from .of_cuts import OfCuts


class BySets:
    """Says which structures of arrangements may cost less than what is looked for, one arrangement after the other."""

    def __init__(self, question: Question, model: CostModel, cuts: LeastCut, of_cuts: OfCuts, improving: Improving) -> None:
        self._question, self._model, self._cuts, self._of_cuts, self._improving = question, model, cuts, of_cuts, improving

    @property
    def can(self) -> bool:
        """Is anything known of the cuts of this question?"""
        return self._cuts.known

    def structures(
        self, arrangement: Arrangement, below: Callable[[], Price | None], is_over: Callable[[], bool]
    ) -> Iterator[tuple[int, Structure]]:
        """Those of an arrangement that nobody looked at and that may cost less than `below`, each with the ns that it takes at least.

        What takes least comes first. `below` is asked again and again: it may be less after what was found meanwhile.
        """
        level = below()
        for time, parts in sorted(self._cuts.of_sets(arrangement.users, ENDLESS - 1 if level is None else most_of(level))):
            level = below()
            if is_over() or (level is not None and time > most_of(level)):
                return
            structure = self._structure(arrangement, parts)
            if structure is not None and not self._improving.has(structure) and self._may_take(arrangement, parts, level):
                yield time, structure

    def _may_take(self, arrangement: Arrangement, parts: tuple[Tasks, ...], level: Price | None) -> bool:
        return level is None or not self._of_cuts.can or self._of_cuts.may_take(parts, arrangement, most_of(level))

    def _structure(self, arrangement: Arrangement, parts: tuple[Tasks, ...]) -> Structure | None:
        segments = listed(self._question, self._model, arrangement.users, parts)
        if segments is None or self._model.refuses(self._question, arrangement.users, segments):
            return None
        return Structure(arrangement.sets, arrangement.inside, segments)
