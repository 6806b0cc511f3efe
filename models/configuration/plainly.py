"""Plain values of settings, for conclusions that are skipped if a value is unknown."""

from __future__ import annotations

from typing import Union

from ..text.tree import Scalar
from .notes import is_unknown
from .settings import Settings

Plain = Union[str, int, float, bool]


def plain_value(settings: Settings, path: str, usual: Plain = "") -> Plain:
    """Return the scalar value at a path, or `usual` if nothing is written.

    "" if the value is null or unknown; nothing is reported in that case.
    """
    value = settings.at(path)
    if value is None:
        return "" if settings.is_elsewhere(path) else usual
    if not isinstance(value, Scalar) or is_unknown(value) or value.is_null:
        return ""
    return value.value if isinstance(value.value, (str, int, float, bool)) else ""


def whole_number(value: Plain) -> int:
    """Return a whole number of at least 1; 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def percent(value: Plain) -> int:
    """Convert a fraction such as 0.6 to percent; 0 for any other value."""
    return round(100 * value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1 else 0
