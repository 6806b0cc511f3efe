"""One structure in work: what it costs at least, and its best design until now."""

from __future__ import annotations

from typing import Sequence

from ....models.planning.design import Design
from ..searched import Found, Price
from ..sizes.branching import Best, Branching
from ..sizes.choice import Choice
from ..sizes.domains import Narrowing
from ..sizes.sizing import Sizing
from .lean import Lean

ENDLESS = (1 << 62, 0)
FIRST = 500
"""Parts that are looked at before all that really fits is listed, at most."""


class Candidate:
    """A structure whose counts and degrees are searched for, as far as it can be among the best.

    Attributes
    ----------
    sizing : what is to be chosen.
    floor : nothing of it costs less that could be among the best, and better than what is known of it.
    excluded : designs of it that are not to be found.
    best : the best choices until now, and what they cost.
    found : the same as a design, once it is among what was found.
    parts : how many parts of it were looked at, since all that really fits is listed.
    searched : was it divided?
    proved : nothing better in it could be among the best.
    possible : False where it is known to have no design at all.
    """

    def __init__(self, number: int, sizing: Sizing, lean: Lean | None, floor: Price, excluded: tuple[Design, ...]) -> None:
        """`lean`: looked at first, where that is quicker: what is too dear even so is left alone."""
        self.number, self.sizing, self.floor, self.excluded = number, sizing, floor, excluded
        self.best: Best | None = None
        self.found: Found | None = None
        self.parts, self.searched, self.proved, self.possible = 0, False, False, True
        self._lean = lean
        self._first = lean.sizing(sizing.structure) if lean is not None else None
        self._left, self._bar = sizing, ENDLESS
        self._branching: Branching | None = None

    @property
    def looked(self) -> bool:
        """Was all of it looked at once?"""
        return self._branching is not None or self.searched

    def look(self, below: Price | None, parts: int) -> int:
        """Looks at all of it, then from call to call at so many parts more, for what costs less than `below`; at how many it looked.

        No parts: whatever really fits is looked for at once.
        """
        if self._branching is None:
            branching = self._branching = Branching(self._left, self._refuses) if self._first is None else Branching(self._first)
            looked = branching.parts
            self.possible = self.possible and (branching.floor is not None or self._bar < ENDLESS)
        else:
            branching, self.searched = self._branching, True
            looked = _searched(branching, below, parts)
        self._take(branching.best if self._first is None else self._really(branching.best))
        if branching.floor is not None:
            self.floor = max(self.floor, min(branching.floor, self._bar, below if below is not None and branching.decided else ENDLESS))
        if self._first is None:
            self.parts += looked
            self.proved = branching.decided
        elif branching.decided or branching.parts >= (FIRST if parts else 0):
            looked += self._refine(self._first, branching, below, parts)
        return looked

    def _really(self, best: Best | None) -> Best | None:
        """What was found first, if it really fits."""
        if best is None or self._lean is None:
            return None
        chosen = self._lean.really(self.sizing, best[1])
        return (best[0], chosen) if self.sizing.allows(chosen) and not self._refuses(chosen) else None

    def _refine(self, first: Sizing, branching: Branching, below: Price | None, parts: int) -> int:
        """Lists what really fits, where that can be better than what is known; how many parts were looked at.

        Where the best that costs too little fits, it is the best. With the same kinds and amounts there often is something that costs
        hardly more; then few others are left.
        """
        self._first = self._branching = None
        looked = 0
        if branching.best is not None and self._really(branching.best) is None:
            near = Branching(self.sizing.only(tuple((choice.amount,) for choice in branching.best[1])), self._refuses)
            looked = near.parts + _searched(near, below, parts)
            self._take(near.best)
        if branching.decided and (branching.best is None or (self.best is not None and self.best[0] == branching.best[0])):
            self.proved = True
            return looked
        known = [price for price in (below, self.best[0] if self.best else None) if price is not None]
        if known:
            self._bar = min(known)
            self._narrow(first)
        return looked

    def _narrow(self, first: Sizing) -> None:
        """Leaves the kinds and amounts alone with which something can be better than what is known."""
        narrowing = Narrowing(first.only())
        domains = narrowing.start()
        if not narrowing.narrow(domains, self._bar):
            self.proved = True
            return
        left = (dict.fromkeys(its[place].amount for place in places) for its, places in zip(narrowing.choices, domains.left))
        self._left = self.sizing.only(tuple(map(tuple, left)))

    def _take(self, best: Best | None) -> None:
        if best is not None and (self.best is None or best[0] < self.best[0]):
            self.best = best

    def _refuses(self, chosen: Sequence[Choice]) -> bool:
        design = self.sizing.design(chosen)
        return any(_is_same(design, each) for each in self.excluded)


def _searched(branching: Branching, below: Price | None, parts: int) -> int:
    before = branching.parts
    branching.search(below, parts)
    return branching.parts - before


def _is_same(one: Design, other: Design) -> bool:
    return (set(one.blocks), one.options, one.segments) == (set(other.blocks), other.options, other.segments)
