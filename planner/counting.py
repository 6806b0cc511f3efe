"""Progress of a search for counts: the best price yet and the bound."""

from __future__ import annotations

from typing import Callable

from ..models.record import dataclass

NOW_AND_THEN = 0.5
"""Seconds between two words about a search."""


@dataclass(frozen=True, slots=True)
class Counting:
    """How a search for counts, degrees and sharing stands.

    Attributes
    ----------
    best : ns of an iteration, or accelerators where these are to be few, of the best design yet; None: none was found.
    bound : no design has less.
    seconds : real time since the search began.
    """

    by_time: bool
    best: int | None
    bound: int
    seconds: float

    @property
    def gap(self) -> float | None:
        """How far the best may be from the best possible, as a share of it; None as long as there is none."""
        if self.best is None:
            return None
        return (self.best - self.bound) / self.best if self.best else 0.0


OnCounting = Callable[[Counting], None]
"""Told every now and then. What it raises ends the search."""


def silent(counting: Counting) -> None:
    """Tell nobody."""
