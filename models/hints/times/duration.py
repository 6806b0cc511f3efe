"""A number of seconds, read as nanoseconds."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from ...planning.measured import SECOND
from ...text.values import shown

LONGEST = 10**7
"""Seconds: about four months."""


def duration(value: object) -> int:
    """Nanoseconds of a number of seconds. Raises ValueError with a sentence for a person."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{shown(value)} is no number of seconds")
    try:
        seconds = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"{shown(value)} is no number of seconds") from None
    if not (seconds.is_finite() and 0 < seconds <= LONGEST):
        raise ValueError(f"{shown(value)} seconds are no time: more than 0 are meant, and at most {LONGEST:,}")
    return max(1, int((seconds * SECOND).to_integral_value()))


NUMBER_OF_SECONDS: dict[str, Any] = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST},
        {"type": "string", "pattern": r"^\+?(?=[^eE]*[1-9])([0-9]{1,8}(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,2})?$"},
    ]
}
"""In digits too, as YAML reads `1e3`; JSON Schema cannot say their upper limit."""
Duration = Annotated[int, BeforeValidator(duration), WithJsonSchema(NUMBER_OF_SECONDS)]
"""Nanoseconds of a number of seconds such as ``59.9``."""

WRITTEN = "a number such as `59.9`"
"""How a number of seconds is written."""
