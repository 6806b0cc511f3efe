"""The counts and degrees of structures are searched by dividing them, as far as they can be among the best."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from .....models.planning.question import Question
from .candidate import Candidate
from .progress import Progress
from .standing import Standing

FEW = 16
"""Accelerators up to which no solver is started, however long dividing takes."""
PARTS = 2_000
"""Parts of a structure that are looked at before a solver is asked."""
PORTION = 100
"""Parts of a structure that are looked at before it is asked again which structure can be best."""
HURRIED = 8
"""Structures that are looked at once more where the time is over and nothing was found."""


class Dividing:
    """Divides structures as long as there is time."""

    def __init__(self, question: Question, standing: Standing, progress: Progress) -> None:
        self._standing, self._progress = standing, progress
        self._asks = question.accelerators > FEW

    def all(self) -> None:
        """Each structure that is open: the one that could be best goes first."""
        standing, hurried = self._standing, 0
        waiting = [(one.floor, one.number, one) for one in standing.open]
        heapify(waiting)
        while waiting and not standing.ended:
            *_, one = heappop(waiting)
            left = int(self._progress.left / self._progress.part)
            if one.proved or not standing.can_be_better(one):
                one.proved = True
            elif left > 0 and (one.parts < PARTS or not self._asks):
                self.look_at(one, min(PORTION, left))
                if not one.proved:
                    heappush(waiting, (one.floor, one.number, one))
            elif left <= 0 and not standing.best and hurried < HURRIED:
                self.look_at(one, 0)
                hurried += 1

    def decide(self, one: Candidate) -> None:
        """One structure, until it is decided whether it is better; as long as there is time, and dividing is not left to a solver."""
        while not one.proved and self._standing.can_be_better(one) and not self._standing.ended:
            left = int(self._progress.left / self._progress.part)
            if left <= 0 or (one.parts >= PARTS and self._asks):
                return
            self.look_at(one, min(PORTION, left))

    def look_at(self, one: Candidate, parts: int = PORTION) -> None:
        """So many parts of one structure."""
        self._progress.heed()
        best = one.best
        self._progress.spent += self._progress.part * one.look(self._standing.below(one), parts)
        if one.best is not None and one.best is not best:
            self._standing.found(one, one.best[1])
