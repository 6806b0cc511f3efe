"""One structure under search: its lower bound and the best design found in it."""

from __future__ import annotations

from typing import Sequence

from ....models.planning.design import Design
from .price import ENDLESS, Price
from .relaxation import Relaxation
from .searched import Found
from .sizes.branching import Branching
from .sizes.choice import Choice
from .sizes.sizing import Sizing

NOTHING: Price = (ENDLESS, 0)
RELAXED = 500
"""Subproblems of the relaxed structure, at most, before the real one is listed."""


class Candidate:
    """A structure whose counts and degrees are searched as far as it may be among the best.

    With a relaxation, that is searched first: only what costs less than the incumbent there is listed and searched as it really is.

    Attributes
    ----------
    floor : lower bound of what is better than its best design, and may be among the best.
    excluded : designs that are no answer.
    found : the best design so far.
    parts : subproblems solved.
    proved : nothing better in it may be among the best.
    possible : False where it has no design at all.
    """

    def __init__(
        self, number: int, sizing: Sizing, floor: Price, excluded: tuple[Design, ...] = (), relaxation: Relaxation | None = None
    ) -> None:
        self.number, self.sizing, self.floor, self.excluded = number, sizing, floor, excluded
        self.found: Found | None = None
        self.parts, self.proved, self.possible = 0, False, True
        self._relaxation = relaxation
        self._listed, self._unlisted = sizing, NOTHING
        """What is listed of the real structure, and the lower bound of the rest."""
        self._branching: Branching | None = None

    def search(self, below: Price | None, parts: int) -> int:
        """Solve so many subproblems more, at first the root alone; returns how many were solved.

        Designs that cost no less than `below` are cut off. With no `parts` the real structure is looked at, for any design of it.
        """
        branching = self._branching
        if branching is None:
            relaxed = self._relaxation.sizing(self.sizing.structure) if self._relaxation is not None else None
            branching = self._branching = Branching(relaxed) if relaxed is not None else Branching(self._listed, self._is_excluded)
            self.possible = self.possible and (branching.floor is not None or self._unlisted < NOTHING)
            solved = branching.parts + branching.crossing
        else:
            before = branching.parts
            branching.search(below, parts)
            solved = branching.parts - before
        self._raise(branching, below)
        if self._relaxation is not None:
            if parts == 0 or ((branching.decided or branching.parts >= RELAXED) and (below is None or self.floor < below)):
                solved += self._leave(self._relaxation, branching, below, parts)
        else:
            self.take(branching.best[1] if branching.best is not None else None)
            self.proved = branching.decided
        self.parts += solved
        return solved

    def _leave(self, relaxation: Relaxation, branching: Branching, below: Price | None, parts: int) -> int:
        """Go on with the real structure, on what may cost less than the incumbent; returns the subproblems solved for an incumbent."""
        best, solved = branching.best, 0
        if best is not None:
            real = relaxation.real(best, self.sizing)
            if real is not None and not self._is_excluded(real[1]):
                self.take(real[1])
            else:  # the same counts with other degrees cost hardly more
                near = Branching(self.sizing.only(tuple((choice.amount,) for choice in best[1])), self._is_excluded)
                near.search(below, parts)
                self.take(near.best[1] if near.best is not None else None)
                solved = near.parts + near.crossing
        self._relaxation = self._branching = None
        if branching.decided and (best is None or (self.found is not None and self.found.price == best[0])):
            self.proved = True
            return solved
        if known := [price for price in (below, self.found.price if self.found else None) if price is not None]:
            cheaper, self._unlisted = relaxation.cheaper(self.sizing, min(known)), min(known)
            self._listed, self.proved = cheaper or self._listed, cheaper is None
        return solved

    def _raise(self, branching: Branching, below: Price | None) -> None:
        if branching.floor is not None:
            cut_off = below if below is not None and branching.decided else NOTHING
            self.floor = max(self.floor, min(branching.floor, self._unlisted, cut_off))

    def take(self, chosen: Sequence[Choice] | None) -> None:
        """Keep these choices if they are better."""
        if chosen is not None and (self.found is None or self.sizing.price(chosen) < self.found.price):
            self.found = Found(self.sizing.price(chosen), self.number, self.sizing.design(chosen), self.sizing.structure)

    def _is_excluded(self, chosen: Sequence[Choice]) -> bool:
        if not self.excluded:
            return False
        design = self.sizing.design(chosen)
        return any(
            (set(design.blocks), design.options, design.segments) == (set(it.blocks), it.options, it.segments) for it in self.excluded
        )
