"""One structure in work: what it costs at least, and its best design until now."""

from __future__ import annotations

from typing import Sequence

from ...models.planning.design import Design
from .searched import Found, Price
from .sizes.branching import Best, Branching
from .sizes.choice import Choice
from .sizes.domains import Narrowing
from .sizes.sizing import Sizing


class Candidate:
    """A structure whose counts and degrees are searched for, as far as it can be among the best.

    Attributes
    ----------
    sizing : what is to be chosen.
    floor : no design of it costs less.
    excluded : designs of it that are not to be found.
    best : the best choices until now, and what they cost.
    found : the same as a design, once it is among what was found.
    parts : how many parts of it were looked at.
    begun : was all that fits in memory looked at?
    searched : was it divided?
    proved : nothing better in it could be among the best.
    possible : False where it is known to have no design at all.
    """

    def __init__(self, number: int, sizing: Sizing, roomy: Sizing | None, floor: Price, excluded: tuple[Design, ...]) -> None:
        """`roomy`: the same with memory without end, where that is quicker to look at: what is too dear even so is left alone."""
        self.number, self.sizing, self.floor, self.excluded = number, sizing, floor, excluded
        self.best: Best | None = None
        self.found: Found | None = None
        self.parts, self.begun, self.searched, self.proved, self.possible = 0, False, False, False, True
        self._roomy, self._left = roomy, sizing
        self._branching: Branching | None = None

    def look(self, below: Price | None, parts: int) -> None:
        """Looks at all of it, then from call to call at so many parts more, for what costs less than `below`."""
        self.begun = self._roomy is None
        if self._branching is None:
            self._branching = Branching(self._left, self._refuses) if self._roomy is None else Branching(self._roomy)
            self.parts += self._branching.parts
            self.possible = self.best is not None or self._branching.floor is not None
        else:
            self.searched = True
            self.parts += self._searched(self._branching, below, parts)
        branching = self._branching
        if branching.floor is not None:
            self.floor = max(self.floor, branching.floor if below is None or not branching.decided else min(branching.floor, below))
        if self._roomy is None:
            self._take(branching)
            self.proved = branching.decided
        elif branching.decided:
            self._refine(self._roomy, branching.best, below, parts)

    def _refine(self, roomy: Sizing, best: Best | None, below: Price | None, parts: int) -> None:
        """The best with memory without end is known: if it does not fit, what fits is listed, where it can be better than what is known.

        With the same kinds and amounts there often is something that costs hardly more; then few others are left.
        """
        self._roomy = self._branching = None
        if best is None or (self.sizing.allows(best[1]) and not self._refuses(best[1])):
            self.best, self.proved = best, True
            return
        near = Branching(self.sizing.only(tuple((choice.amount,) for choice in best[1])), self._refuses)
        self.parts += near.parts + self._searched(near, below, parts)
        self._take(near)
        bar = min((price for price in (below, self.best[0] if self.best else None) if price is not None), default=None)
        if bar is None:
            return
        narrowing = Narrowing(roomy.only())
        domains = narrowing.start()
        if not narrowing.narrow(domains, bar):
            self.proved = True
            return
        left = (dict.fromkeys(its[place].amount for place in places) for its, places in zip(narrowing.choices, domains.left))
        self._left = self.sizing.only(tuple(map(tuple, left)))

    @staticmethod
    def _searched(branching: Branching, below: Price | None, parts: int) -> int:
        before = branching.parts
        branching.search(below, parts)
        return branching.parts - before

    def _take(self, branching: Branching) -> None:
        if branching.best is not None and (self.best is None or branching.best[0] < self.best[0]):
            self.best = branching.best

    def _refuses(self, chosen: Sequence[Choice]) -> bool:
        design = self.sizing.design(chosen)
        return any(_is_same(design, each) for each in self.excluded)


def _is_same(one: Design, other: Design) -> bool:
    return (set(one.blocks), one.options, one.segments) == (set(other.blocks), other.options, other.segments)
