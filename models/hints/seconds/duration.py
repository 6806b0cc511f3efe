"""A number of seconds, read as nanoseconds."""

from __future__ import annotations

import re

from ...planning.measured import SECOND
from ...quantity import Advised
from ...text.form import Kind, Schema, shown

LONGEST = 10**7
"""Seconds: about four months."""
_UNITS = {
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), "0.001"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "1"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "60"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "3600"),
}
"""What people write after a time -> seconds of one."""
_WITH_UNIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([a-z]+)", re.ASCII)


def duration(value: object) -> int:
    """Nanoseconds of a number of seconds. Raises ValueError with a sentence for a person, Advised where it is known what to write."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown(value)} is no number of seconds")
    from decimal import Decimal, InvalidOperation

    try:
        seconds = Decimal(str(value))
    except InvalidOperation:
        message = f"{shown(value)} is no number of seconds"
        raise (Advised(message, advice) if (advice := _meant(str(value))) else ValueError(message)) from None
    if not (seconds.is_finite() and 0 < seconds <= LONGEST):
        raise ValueError(f"{shown(value)} seconds are no time: more than 0 are meant, and at most {LONGEST:,}")
    return max(1, int((seconds * SECOND).to_integral_value()))


def _meant(text: str) -> str:
    """What to write instead of a time with its unit: ``write `90` `` for `1.5min`; "" where nobody knows."""
    from decimal import Decimal

    found = _WITH_UNIT.fullmatch(text.strip().lower())
    unit = _UNITS.get(found[2]) if found else None
    if found is None or unit is None or not 0 < (seconds := Decimal(found[1]) * Decimal(unit)) <= LONGEST:
        return ""
    return f"write `{seconds.normalize():f}`"


NUMBER_OF_SECONDS: Schema = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST},
        {"type": "string", "pattern": r"^\+?(?=[^eE]*[1-9])([0-9]{1,8}(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$"},
    ]
}
"""In digits too, as YAML reads `1e3`; JSON Schema cannot say their upper limit."""
Duration = Kind(duration, NUMBER_OF_SECONDS)
"""Nanoseconds of a number of seconds such as ``59.9``."""

WRITTEN = "a number such as `59.9`"
"""How a number of seconds is written."""
