"""What a search says while it runs: the best verified answer so far, and what is proved of any answer."""

from __future__ import annotations

from typing import Callable

from ...models.placements.assignment import Assignment
from ...models.placements.plan import Plan
from ...models.record import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a search after something became better: the answer, or the bound.

    `plan` is complete and was verified; it could be returned as it is. It is None as long as no answer is known, then
    `proved` alone says something. `seconds` is real time since the search began. `refuted`: it was proved that there is no answer,
    and what follows is why.
    """

    plan: Plan | None
    proved: int
    seconds: float
    refuted: bool = False

    @property
    def assignment(self) -> Assignment | None:
        """Where everything goes in the best answer so far."""
        return self.plan.assignment if self.plan else None

    @property
    def objective(self) -> int | None:
        """What that answer costs; smaller is better."""
        return self.plan.objective if self.plan else None

    @property
    def bound(self) -> int:
        """What no answer can cost less than."""
        return self.plan.bound if self.plan else self.proved

    @property
    def gap(self) -> float | None:
        """How far the answer may be from the best possible, as a share of it; None as long as there is no answer."""
        return self.plan.gap if self.plan else None


OnProgress = Callable[[Progress], None]
"""Told of every better answer and every better bound, in order. What it raises ends the search."""


def silent(progress: Progress) -> None:
    """Tell nobody."""
