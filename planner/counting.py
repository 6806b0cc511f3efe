"""Progress of a search for counts: incumbent and lower bound."""

from __future__ import annotations

from typing import Callable

from ..models.record import dataclass

NOW_AND_THEN = 0.5
"""Seconds between two reports of a search."""


@dataclass(frozen=True, slots=True)
class Counting:
    """Progress of a search for counts, degrees and sharing.

    `best` : incumbent, in ns of an iteration or in accelerators by the aim; None before the first.
    `bound` : lower bound, in the same unit. `seconds` : real time since the search began.
    """

    by_time: bool
    best: int | None
    bound: int
    seconds: float

    @property
    def gap(self) -> float | None:
        """Gap of the incumbent as a share of its price; None without an incumbent."""
        if self.best is None:
            return None
        return (self.best - self.bound) / self.best if self.best else 0.0


OnCounting = Callable[[Counting], None]
"""Callback for progress. An exception raised in it ends the search."""


def silent(counting: Counting) -> None:
    """Ignore the progress."""
