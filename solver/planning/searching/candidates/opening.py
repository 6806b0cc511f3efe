"""An arrangement that was not passed over: which of its structures are opened, so that they can be divided."""

from __future__ import annotations

from typing import Callable

from ...costs.cost_model import CostModel
from ..price import Price
from ..structures.every import Arrangement, Sets
from .by_sets import BySets
from .candidate import Candidate
from .dividing import PORTION, Dividing
from .improving import Improving
from .progress import Progress
from .sight import Sight
from .standing import Standing


class Opening:
    """Opens the structures of arrangements of a model that may cost less than `bar` says at that time; of each arrangement once."""

    def __init__(
        self, model: CostModel, sight: Sight, standing: Standing, dividing: Dividing, progress: Progress, improving: Improving,
        by_sets: BySets, bar: Callable[[], Price | None], is_over: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._model, self._sight, self._standing, self._dividing, self._progress = model, sight, standing, dividing, progress
        self._improving, self._by_sets, self._bar, self._is_over = improving, by_sets, bar, is_over
        self._opened: set[tuple[Sets, tuple[int, ...]]] = set()

    def look_at(self, arrangement: Arrangement) -> None:
        """Opens what may be better of an arrangement, unless all of that is open."""
        key = arrangement.sets, arrangement.inside
        if key not in self._opened and self._look_at(arrangement):
            self._opened.add(key)

    def again(self) -> None:
        """More is looked for from now on: what could not be better may be among it."""
        self._opened.clear()

    def _is_low(self, floor: Price) -> bool:
        bar = self._bar()
        return bar is None or floor < bar

    def _look_at(self, arrangement: Arrangement) -> bool:
        """Whether its structures that can be better are open now."""
        if self._model.by_phase:
            return self._open(arrangement, (0, 0))
        for one in self._sight.uncut([arrangement]):
            if self._is_low(one.floor):
                self._progress.heed()
                self._progress.spent += self._progress.part * one.look(self._bar(), PORTION)
            if one.possible and self._is_low(one.floor):
                self._improving.of(arrangement)
                if self._is_low(one.floor):
                    if not self._by_sets.can:
                        return self._open(arrangement, one.floor)
                    self._open_some(arrangement, one.floor)
        return False

    def _open_some(self, arrangement: Arrangement, floor: Price) -> None:
        """Opens its structures that may cost less than what is looked for, and begins with each."""
        for time, structure in self._by_sets.structures(arrangement, self._bar, self._is_over):
            one = self._sight.candidate(structure, time)
            if one is not None:
                one.floor = max(one.floor, floor)
                self._begin(one)

    def _open(self, arrangement: Arrangement, floor: Price) -> bool:
        """Opens its structures that can be better than the best, and begins with each; whether one of them can."""
        found = [one for one in self._sight.of(arrangement) if not self._improving.has(one.sizing.structure)]
        for one in found:
            one.floor = max(one.floor, floor)
        if found and not any(self._is_low(one.floor) for one in found):
            return False
        for one in found:
            if not self._standing.best or one.floor < self._standing.best[0].price or self._is_low(one.floor):
                self._begin(one)
        return True

    def _begin(self, one: Candidate) -> None:
        """Opens one, and looks at all of it; what can still be better shows in a few parts what can be had of it, before anything else is opened."""
        self._improving.opened(one)
        self._standing.open.append(one)
        for _ in range(2):
            if not one.proved and self._is_low(one.floor):
                self._dividing.look_at(one)
