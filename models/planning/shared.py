"""Accelerators of given components that planned ones may use too: they count once, whoever is on them."""

from __future__ import annotations

from typing import Iterable

from ..record import dataclass


@dataclass(frozen=True)
class Shared:
    """Accelerators that components hold by given ranks which are not planned, and let others use.

    Attributes
    ----------
    accelerators : how many; they are in the kinds too.
    kinds : the kinds that have them.
    users : the planned components that may be on them.
    """

    accelerators: int
    kinds: frozenset[int]
    users: frozenset[str]

    def lets(self, kind: int, components: Iterable[str]) -> bool:
        """May accelerators of a kind that exactly these use be among them?"""
        return kind in self.kinds and self.users.issuperset(components)
