"""A setting as it is written, for what follows from it when it is known and is left alone when it is not."""

from __future__ import annotations

from typing import Union

from ..text.tree import Scalar
from .notes import is_unknown
from .settings import Settings

Plain = Union[str, int, float, bool]


def plainly(settings: Settings, path: str, usual: Plain = "") -> Plain:
    """The value at a path; the usual one where nothing is written. "" where it is null, or not known here: nothing is noted of that."""
    value = settings.at(path)
    if value is None:
        return "" if settings.is_elsewhere(path) else usual
    if not isinstance(value, Scalar) or is_unknown(value) or value.is_null:
        return ""
    return value.value if isinstance(value.value, (str, int, float, bool)) else ""


def whole_number(value: Plain) -> int:
    """A whole number of at least 1; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def percent(value: Plain) -> int:
    """The percent of a part such as 0.6; 0 where it is none."""
    return round(100 * value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1 else 0
