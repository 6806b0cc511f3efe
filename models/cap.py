"""Limit on the objective."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class Cap:
    """Upper limit `most` on a sum of objective terms: (name, cost per unit)."""

    terms: tuple[tuple[str, int], ...]
    most: int
