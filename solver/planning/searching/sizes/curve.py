"""How the time of a set falls with its accelerators."""

from __future__ import annotations

from bisect import bisect_left
from typing import Callable, Protocol, Sequence, TypeVar

from .hull import hull


class Takes(Protocol):
    """What takes accelerators."""

    @property
    def accelerators(self) -> int:
        """How many."""


T = TypeVar("T", bound=Takes)


class Curve:
    """The ns of a set's work over its accelerators.

    Attributes
    ----------
    least, slowest : the ns of the fastest choice, and those of the choice with the fewest accelerators that is fastest among its like.
    values : the ns of the choices that are faster than all with fewer accelerators, the slowest first.
    slopes : how many ns an accelerator saves, along the lower convex hull.
    """

    def __init__(self, choices: Sequence[T], load: Callable[[T], int]) -> None:
        self.values: list[int] = []
        self._counts: list[int] = []
        for choice in choices:  # in the order of their accelerators
            value = load(choice)
            if self.values and value >= self.values[-1]:
                continue
            if self._counts and self._counts[-1] == choice.accelerators:
                self.values.pop()
                self._counts.pop()
            self.values.append(value)
            self._counts.append(choice.accelerators)
        self._hull = [(count, value) for count, value, _ in hull([(count, value, 0) for count, value in zip(self._counts, self.values)])]
        self.slopes = [(one[1] - two[1]) / (two[0] - one[0]) for one, two in zip(self._hull, self._hull[1:])]
        self.least, self.slowest = self.values[-1], self.values[0]

    def needed(self, value: int) -> int:
        """The fewest accelerators with which it takes no longer; more than there are if it always does."""
        place = bisect_left(self.values, -value, key=lambda each: -each)
        return self._counts[place] if place < len(self._counts) else 1 << 40

    def used(self, worth: float) -> int:
        """The accelerators of the hull's point at which one more saves no more than it is worth."""
        return self._hull[self._place(worth)][0]

    def cheapest(self, over: int, under: int) -> int:
        """The smallest of ns x under + accelerators x over; exact, whatever `over` and `under` are."""
        place = self._place(over / under)
        while place > 0 and self._cost(place - 1, over, under) <= self._cost(place, over, under):
            place -= 1
        while place + 1 < len(self._hull) and self._cost(place + 1, over, under) <= self._cost(place, over, under):
            place += 1
        return self._cost(place, over, under)

    def _place(self, worth: float) -> int:
        return bisect_left(self.slopes, -worth, key=lambda each: -each)

    def _cost(self, place: int, over: int, under: int) -> int:
        return self._hull[place][1] * under + self._hull[place][0] * over
