"""Counts on which verl refuses a job whatever parts its pool has: what is dealt out to ranks does not divide among so many.

A multiple of such a count is refused too: what does not divide among some ranks, or is too little for them, does not divide among a
multiple of them either. So most sizes of a large cluster need not be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Collection

from ..work.work import SHARES
from .refused import Numbers, Told


@dataclass
class Undealt:
    """Degrees of what is trained -> count -> the components that are refused on it; right where nothing but degrees follows from sizes.

    `most`: the largest count that is asked for.
    """

    most: int
    _known: dict[Numbers, dict[int, set[str]]] = field(default_factory=dict)

    def add(self, count: int, trained: Numbers, told: Told) -> None:
        """What is told on a count, with these degrees of what is trained."""
        names = {name for name, errors in told.items() if any(code == SHARES for code, _ in errors)}
        its = self._known.setdefault(trained, {})
        if not names <= its.get(count, set()):
            for multiple in range(count, self.most + 1, count):
                its.setdefault(multiple, set()).update(names)

    def refuses(self, count: int, trained: Numbers, components: Collection[str]) -> bool:
        """Is one of some components known to be refused on a count, with these degrees?"""
        return not self._known.get(trained, {}).get(count, set()).isdisjoint(components)
