"""Memory of blocks inside one another: choices that leave the others no memory are removed."""

from __future__ import annotations

from functools import cached_property
from operator import add
from typing import NamedTuple, Sequence

from ...models.planning.option import NO_KIND
from .sizing import Sizing

Needs = tuple[int, ...]
"""MiB in each turn, and last in none."""


class _Chain(NamedTuple):
    """A set that holds no other, and those around it, whose choices of one kind have so much memory together."""

    sets: tuple[int, ...]
    kind: int
    limit: int


class SharedMemory:
    """Memory of one structure whose sets lie inside others."""

    def __init__(self, sizing: Sizing) -> None:
        self._sizing = sizing
        self._needs = [[choice.needs for choice in its] for its in sizing.choices]
        self._kinds = [[choice.kind for choice in its] for its in sizing.choices]

    def narrow(self, left: list[list[int]]) -> bool:
        """Remove choices that the other sets leave no memory for; False if a set has none left.

        `left` : for each set, the places of its choices.
        """
        for chain in self._chains:
            its = {number: [place for place in left[number] if self._kinds[number][place] == chain.kind] for number in chain.sets}
            if not all(its.values()):
                continue  # sets around each other are of one kind: that none of this one is left is seen there
            least = {number: self._least(number, places) for number, places in its.items()}
            total = _sum(list(least.values()))
            for number, places in its.items():
                spare = [chain.limit - all_of_them + own for all_of_them, own in zip(total, least[number])]
                needs = self._needs[number]
                out = {place for place in places if any(need > most for need, most in zip(needs[place], spare))}
                if out:
                    left[number] = [place for place in left[number] if place not in out]
                    if not left[number]:
                        return False
        return True

    def _least(self, number: int, places: Sequence[int]) -> Needs:
        """In each turn, what these choices of a set need at least."""
        its = dict.fromkeys(self._needs[number][place] for place in places)
        return tuple(map(min, zip(*its)))

    @cached_property
    def _chains(self) -> Sequence[_Chain]:
        """All that some choices do not fit in together."""
        sizing = self._sizing
        leaves = (around for number, around in enumerate(sizing.structure.around) if len(around) > 1 and not sizing.inner[number])
        found = []
        for sets in leaves:
            for kind in sorted({kind for number in sets for kind in self._kinds[number] if kind != NO_KIND}):
                limit = sizing.question.kinds[kind].memory
                of_kind = [[need for need, its in zip(self._needs[number], self._kinds[number]) if its == kind] for number in sets]
                if limit is not None and all(of_kind) and max(_sum([tuple(map(max, zip(*its))) for its in of_kind])) > limit:
                    found.append(_Chain(sets, kind, limit))
        return found


def _sum(each: Sequence[Needs]) -> Needs:
    total = each[0]
    for needs in each[1:]:
        total = tuple(map(add, total, needs))
    return total
