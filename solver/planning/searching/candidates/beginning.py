"""Something good of very many, before it is looked at all of them; and in the end what differs little from the best."""

from __future__ import annotations

from .....models.planning.kind import NO_KIND
from .....models.planning.question import Question
from ..cuts.least import LeastCut
from ..price import Price
from .improving import Improving
from .progress import Progress
from .standing import Standing

IMPROVED, BY_CUT = 0.2, 0.1
"""The shares of all time after which it is looked no longer for something good to begin with, and the same where cuts are looked at one by one."""
AROUND = 0.05
"""The share of all time in which it is looked for what differs little from the best."""
TRIED = 3
"""Of so many it is looked whether something like them is better."""


class Beginning:
    """Looks for something good by few questions, as long as a share of all time."""

    def __init__(self, question: Question, cuts: LeastCut, improving: Improving, standing: Standing, progress: Progress) -> None:
        self._question, self._cuts, self._improving = question, cuts, improving
        self._standing, self._progress = standing, progress
        self.begun = False
        """Was it looked for to begin with?"""

    def look(self, floor: Price, share: float = IMPROVED) -> None:
        """By sets that are all about as long busy; nothing costs less than `floor`."""
        self.begun = True
        limit = self._progress.spent + share * self._progress.limit
        for sets in self._improving.begin(limit)[:TRIED]:
            self._improving.improve(sets, floor, limit)

    def by_the_cut(self, floor: Price, share: float = IMPROVED) -> None:
        """By the cut that takes least."""
        if parts := self._cuts.best():
            self._improving.improve(self._improving.like(parts), floor, self._progress.spent + share * self._progress.limit)

    def look_around(self) -> None:
        """Where more than the best is asked for, and fewer were found on the way: what differs little from the best."""
        standing = self._standing
        if standing.best and len(standing.best) < standing.count and not standing.ended:
            its = standing.best[0].structure.sets
            bare = {name for name, options in self._question.options.items() if options and options[0].kind == NO_KIND}
            around = tuple(each for each in its if bare.isdisjoint(each))
            self._improving.improve(around, (0, 0), self._progress.spent + AROUND * self._progress.limit)
