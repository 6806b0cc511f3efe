"""Times in words: never as nothing where there is something, and what is needed never as no more than what is allowed."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from ..models.findings.wording import plural
from ..models.planning.measured import SECOND

MILLISECOND = SECOND // 1000
DIGITS = 4


def figure(value: float, digits: int = DIGITS) -> str:
    """A number with so many digits that count, without an exponent: `20.18`, `0.0000004`, `1234`."""
    return format(Decimal(f"{value:.{digits}g}"), "f")


def in_seconds(nanoseconds: int) -> str:
    """Seconds that are no less than they are: whole milliseconds from a second on, below it four digits that count."""
    return exactly_in_seconds(_rounded(nanoseconds))


def least_in_seconds(nanoseconds: int) -> str:
    """Seconds that are no more than they are, as where it is said what is needed at least: with the digits of `in_seconds`."""
    return exactly_in_seconds(_rounded(nanoseconds, ROUND_FLOOR))


def exactly_in_seconds(nanoseconds: int) -> str:
    """Seconds to the last nanosecond, as where it is said what is allowed."""
    return format((Decimal(nanoseconds) / SECOND).normalize(), "f")


def with_unit(seconds: str) -> str:
    """A number of seconds with its unit: `1 second`, `20.18 seconds`."""
    return f"{seconds} {plural('second', 1 if seconds == '1' else 2)}"


def in_time(nanoseconds: int) -> str:
    """The same as `in_seconds` with its unit: `100.04 s`, and `31.25 ms` below a second."""
    return exactly_in_time(_rounded(nanoseconds))


def exactly_in_time(nanoseconds: int) -> str:
    """The same as `exactly_in_seconds` with its unit, milliseconds below a second."""
    return f"{exactly_in_seconds(nanoseconds)} s" if nanoseconds >= SECOND else f"{exactly_in_seconds(1000 * nanoseconds)} ms"


def _rounded(nanoseconds: int, way: str = ROUND_CEILING) -> int:
    grain = MILLISECOND if nanoseconds >= SECOND else 10 ** max(len(str(nanoseconds)) - DIGITS, 0)
    return int((Decimal(nanoseconds) / grain).to_integral_value(way)) * grain
