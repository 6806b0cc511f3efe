"""Progress of a running search: best verified answer and proved bound."""

from __future__ import annotations

from typing import Callable

from ...models.placements.assignment import Assignment
from ...models.placements.plan import Plan
from ...models.record import dataclass


@dataclass(frozen=True, slots=True)
class Incumbents:
    """State of a search after an improvement of the answer or of the bound.

    `plan` is complete and verified, fit to be returned; None without an answer, then only `proved`
    matters. `seconds` is real time since the start. `refuted` is True if infeasibility was proved
    and the reason is being searched.
    """

    plan: Plan | None
    proved: int
    seconds: float
    refuted: bool = False

    @property
    def assignment(self) -> Assignment | None:
        """Assignment of the best answer so far."""
        return self.plan.assignment if self.plan else None

    @property
    def objective(self) -> int | None:
        """Objective of the best answer so far; smaller is better."""
        return self.plan.objective if self.plan else None

    @property
    def bound(self) -> int:
        """Lower bound on all answers."""
        return self.plan.bound if self.plan else self.proved

    @property
    def gap(self) -> float | None:
        """Relative gap between answer and bound; None without an answer."""
        return self.plan.gap if self.plan else None


OnProgress = Callable[[Incumbents], None]
"""Callback for every better answer or bound, in order. Exceptions end the search."""


def silent(progress: Incumbents) -> None:
    """Ignore the progress."""
