"""A limit on the objective."""

from __future__ import annotations

from .record import dataclass


@dataclass(frozen=True, slots=True)
class Cap:
    """Terms of the objective, by their names and what one of each costs, are together no more than `most`."""

    terms: tuple[tuple[str, int], ...]
    most: int
