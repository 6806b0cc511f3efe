"""Where few cuts of the iteration can be among the best: the arrangements of each of them, by what they take at least with it."""

from __future__ import annotations

from typing import Callable, Sequence

from ..price import Price
from .dividing import Dividing
from .improving import Improving
from .of_cuts import Cut, OfCuts
from .standing import Standing


class ByCut:
    """Looks at the structures of one cut after the other."""

    def __init__(self, of_cuts: OfCuts, standing: Standing, improving: Improving, dividing: Dividing) -> None:
        self._of_cuts, self._standing, self._improving, self._dividing = of_cuts, standing, improving, dividing

    def look_at(self, cuts: Sequence[Cut], level: Price, is_over: Callable[[], bool]) -> None:
        """Opens everything with one of these cuts that may cost less than this, and begins with it."""
        for structure in self._of_cuts.structures(cuts, lambda: most_of(self._below(level)), is_over):
            one = self._improving.look_at(structure)
            if one is not None and not one.proved and self._standing.can_be_better(one):
                self._dividing.look_at(one)

    def _below(self, level: Price) -> Price:
        """Only what costs less is looked at."""
        best = self._standing.best[0].price if self._standing.best else None
        return level if best is None else min(level, best)


def most_of(below: Price) -> int:
    """ns that something takes at most that costs less."""
    return below[0] if below[1] > 0 else below[0] - 1
