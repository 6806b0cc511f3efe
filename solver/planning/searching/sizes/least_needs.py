"""Sets inside one another that have no memory, however little each of them takes: known before anything is chosen."""

from __future__ import annotations

from typing import Sequence

from .choice import Key
from .shared_memory import Needs
from .sizing import Sizing


class LeastNeeds:
    """What sets need at least, remembered."""

    def __init__(self) -> None:
        self._found: dict[tuple[Key, int], Needs | None] = {}

    def fit(self, sizing: Sizing) -> bool:
        """Could all sets inside one another fit, if each needed as little as it ever does?"""
        return all(
            any(self._fits(sizing, around, kind, its.memory) for kind, its in enumerate(sizing.question.kinds))
            for number, around in enumerate(sizing.structure.around)
            if len(around) > 1 and not sizing.inner[number]
        )

    def _fits(self, sizing: Sizing, around: Sequence[int], kind: int, memory: int | None) -> bool:
        needs = [self._of(sizing, number, kind) for number in around]
        each = [its for its in needs if its is not None]
        return len(each) == len(needs) and (memory is None or all(sum(its) <= memory for its in zip(*each)))

    def _of(self, sizing: Sizing, number: int, kind: int) -> Needs | None:
        """None where it cannot be run on this kind."""
        key = sizing.keys[number], kind
        if key not in self._found:
            needs = [choice.needs for choice in sizing.choices[number] if choice.kind == kind]
            self._found[key] = tuple(map(min, zip(*needs))) if needs else None
        return self._found[key]
