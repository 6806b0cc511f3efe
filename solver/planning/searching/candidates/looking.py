"""Every structure is looked at as a whole: what does it cost at least? Those that are cheapest by that show first what can be had."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Iterator, Sequence

from ...costs.cost_model import CostModel
from ..price import Price
from ..structures.every import Arrangement
from .dividing import PORTION, Dividing
from .progress import Progress
from .sight import Sight
from .standing import Standing

MANY = 64
"""Arrangements from which on it is looked first at what any cut of them costs."""
UNCUT, SURE = 0.5, 0.75
"""The shares of all time after which this is done no longer, until one of the cheapest is looked at and from then on."""
BEGUN = 2
"""Structures of an arrangement that show what can be had, before the next arrangement is looked at."""


class Looking:
    """Looks at structures as long as there is time."""

    def __init__(self, model: CostModel, sight: Sight, standing: Standing, dividing: Dividing, progress: Progress) -> None:
        self._model, self._sight, self._standing, self._dividing, self._progress = model, sight, standing, dividing, progress

    def look(self, waiting: Sequence[Arrangement], whole: bool) -> None:
        """Looks at these, as long as there is time. `whole`: there are no others.

        Of very many arrangements, those are passed over with all their structures that cannot be better however the iteration is cut.
        """
        least, kept = self._standing.unseen or self._sight.at_least(), list(self._sight.kept(waiting))
        many = len(waiting) == len(kept) > MANY and self._model.full and not self._model.by_phase
        for floor, arrangement in self._cheapest_first(kept) if many else ((least, each) for each in kept):
            self._standing.unseen = floor if whole else min(floor, least)
            self._open(arrangement, floor, begin=many)
            if self._progress.left <= 0 or self._standing.ended:
                return
        self._standing.unseen = None if whole else least

    def _open(self, arrangement: Arrangement, floor: Price, begin: bool) -> None:
        """Opens its structures, none of which costs less than `floor`. `begin`: the cheapest at first sight are searched at once."""
        found = list(self._sight.of(arrangement))
        for one in found:
            one.floor = max(one.floor, floor)
        self._standing.open += found
        for one in sorted(found, key=lambda each: (each.floor, each.number))[:BEGUN] if begin else ():
            if self._standing.can_be_better(one):
                self._dividing.look_at(one)

    def _cheapest_first(self, waiting: Sequence[Arrangement]) -> Iterator[tuple[Price, Arrangement]]:
        """Arrangements that can be among the best, by what any cut of them costs at least; and what none that is left costs less than.

        First of all the one that has most together of those that can have a design, which shows at once what can be had.
        """
        open_ = [(each.floor, each.number, each) for each in self._sight.uncut(waiting)]
        if open_:
            yield min(open_)[0], open_.pop(0)[2].arrangement
        heapify(open_)
        some, standing = False, self._standing
        while open_:
            floor, _, one = heappop(open_)
            if standing.bar is not None and floor >= standing.bar:
                return
            if one.looked or self._progress.spent >= self._progress.limit * (SURE if some else UNCUT):
                some = True
                yield floor, one.arrangement
                continue
            standing.unseen = floor  # there is time left: all arrangements are known
            self._progress.heed()
            self._progress.spent += self._progress.part * one.look(standing.bar, PORTION)
            if one.possible:
                heappush(open_, (one.floor, one.number, one))
