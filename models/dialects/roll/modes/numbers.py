"""Numbers that need not be whole, as ROLL reads them."""

from __future__ import annotations

from ....configuration.settings import Settings
from ....text.tree import Scalar


def number(settings: Settings, path: str, rule: str, default: float) -> float | None:
    """What is written at a path; the default where nothing is; None where it is not known, or no number."""
    if settings.is_open(path, rule):
        return None
    value = settings.at(path)
    if value is None:
        return default
    found = value.value if isinstance(value, Scalar) else None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def shown(value: float) -> str:
    """`1` for 1.0."""
    return str(int(value)) if value.is_integer() else str(value)
