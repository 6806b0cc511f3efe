"""Where it is known which structures may have an answer: these are searched one after the other."""

from __future__ import annotations

from typing import Sequence

from ..structures.structure import Structure
from .dividing import Dividing
from .progress import Progress
from .sight import LOOK, Sight
from .standing import Standing


class Few:
    """Searches some structures, as long as there is time."""

    def __init__(self, sight: Sight, standing: Standing, dividing: Dividing, progress: Progress) -> None:
        self._sight, self._standing, self._dividing, self._progress = sight, standing, dividing, progress

    def look(self, structures: Sequence[Structure]) -> None:
        """Each of them, up to the first design where any will do; what is left open is divided once more at the end."""
        standing, least = self._standing, self._sight.at_least()
        standing.unseen = least
        for structure in structures:
            if standing.ended or not self._progress.spend(LOOK):
                return
            one = self._sight.candidate(structure)
            if one is not None:
                standing.open.append(one)
                self._dividing.decide(one)
            if not standing.best and (one is None or one.proved):
                standing.without.append(structure)
        standing.unseen = None
