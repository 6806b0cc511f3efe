"""One structure in work: what it costs at least, and its best design until now."""

from __future__ import annotations

from typing import Callable, Sequence

from .....models.planning.design import Design
from ..price import ENDLESS, Price
from ..searched import Found
from ..sizes.branching import Best, Branching
from ..sizes.choice import Choice
from ..sizes.sizing import Sizing
from .lean import Lean
from .leanly import Leanly

NOTHING: Price = (ENDLESS, 0)
"""What nothing costs at least."""
FIRST = 500
"""Parts that are looked at before all that really fits is listed, at most."""


class Candidate:
    """A structure whose counts and degrees are searched for, as far as it can be among the best.

    It is searched as it really is. Where listing all that fits is costly, it is searched before as if memory were nearly no matter (see
    `Lean`): what is too dear even so is left alone, and of all else only what may still be better is listed.

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
        """`lean`: the question in which it is searched before, where that is quicker."""
        self.number, self.sizing, self.floor, self.excluded = number, sizing, floor, excluded
        self.best: Best | None = None
        self.found: Found | None = None
        self.parts, self.searched, self.proved, self.possible = 0, False, False, True
        self._leanly = Leanly(lean, sizing) if lean is not None else None
        """As if memory were nearly no matter; None where it is not searched so, or no more."""
        self._listed, self._unlisted = sizing, NOTHING
        """What is to be searched of all that really fits, and what all else of it costs at least."""
        self._branching: Branching | None = None
        """The one search of both that is under way; None before it began."""

    def look(self, below: Price | None, parts: int) -> int:
        """Looks at all of it, then from call to call at so many parts more, for what costs less than `below`; at how many it looked.

        No parts: whatever really fits is looked for at once.
        """
        if self._leanly is not None:
            return self._look_leanly(self._leanly, below, parts)
        branching, looked = self._go_on(lambda: Branching(self._listed, self._refuses), below, parts)
        self._take(branching.best)
        self._raise(branching, below)
        self.parts += looked
        self.proved = branching.decided
        return looked

    def _look_leanly(self, leanly: Leanly, below: Price | None, parts: int) -> int:
        branching, looked = self._go_on(lambda: Branching(leanly.sizing), below, parts)
        self._take(self._really(leanly, branching.best))
        self._raise(branching, below)
        if branching.decided or branching.parts >= (FIRST if parts else 0):
            looked += self._end_leanly(leanly, branching, below, parts)
            self._leanly = self._branching = None
        return looked

    def _go_on(self, begin: Callable[[], Branching], below: Price | None, parts: int) -> tuple[Branching, int]:
        """Begins the search of all of it, or searches so many parts more; at how many parts it looked."""
        if self._branching is not None:
            self.searched = True
            return self._branching, _searched(self._branching, below, parts)
        self._branching = begin()
        self.possible = self.possible and (self._branching.floor is not None or self._unlisted < NOTHING)
        return self._branching, self._branching.parts + self._branching.crossing

    def _end_leanly(self, leanly: Leanly, branching: Branching, below: Price | None, parts: int) -> int:
        """Says what of all that really fits is to be listed: what can be better than what is known; how many parts were looked at.

        Where the best that costs too little fits, it is the best. With the same kinds and amounts there often is something that costs
        hardly more; then few others are left.
        """
        looked = 0
        if branching.best is not None and self._really(leanly, branching.best) is None:
            near = Branching(leanly.alike(branching.best), self._refuses)
            looked = near.parts + near.crossing + _searched(near, below, parts)
            self._take(near.best)
        if branching.decided and (branching.best is None or (self.best is not None and self.best[0] == branching.best[0])):
            self.proved = True
            return looked
        known = [price for price in (below, self.best[0] if self.best else None) if price is not None]
        if known:
            cheaper, self._unlisted = leanly.cheaper(min(known)), min(known)
            self._listed, self.proved = cheaper or self._listed, cheaper is None
        return looked

    def _really(self, leanly: Leanly, best: Best | None) -> Best | None:
        """What was found as if memory were nearly no matter, if it really fits and is not ruled out."""
        found = leanly.really(best) if best is not None else None
        return found if found is not None and not self._refuses(found[1]) else None

    def _raise(self, branching: Branching, below: Price | None) -> None:
        """Raises the floor to what a search has shown, what it left alone and what was not listed."""
        if branching.floor is not None:
            left_alone = below if below is not None and branching.decided else NOTHING
            self.floor = max(self.floor, min(branching.floor, self._unlisted, left_alone))

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
