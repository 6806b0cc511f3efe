"""A number that is not known exactly: low, likely and high."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """Low, likely and high of an amount of at least 0."""

    low: float
    likely: float
    high: float

    def plus(self, amount: Interval | float) -> Interval:
        """Return the sum."""
        interval = _as_interval(amount)
        return Interval(self.low + interval.low, self.likely + interval.likely, self.high + interval.high)

    def times(self, amount: Interval | float) -> Interval:
        """Return the product."""
        factor = _as_interval(amount)
        return Interval(self.low * factor.low, self.likely * factor.likely, self.high * factor.high)

    def over(self, amount: Interval | float) -> Interval:
        """Return the quotient: the low is over the high of `amount`."""
        divisor = _as_interval(amount)
        return Interval(self.low / divisor.high, self.likely / divisor.likely, self.high / divisor.low)


def exactly(amount: float) -> Interval:
    """Return an amount that is known."""
    return Interval(amount, amount, amount)


def _as_interval(amount: Interval | float) -> Interval:
    return amount if isinstance(amount, Interval) else exactly(amount)
