"""Which sets may lie inside which, of those that could be on the same accelerators: looked at before it is said of all of them."""

from __future__ import annotations

from typing import Iterable, NamedTuple, Sequence

from ..structures.structure import OUTSIDE
from .busy import Room
from .keeping import Keeping, Known, Loads, Need

ROUNDS = 3
"""Times that it is looked how few and how many accelerators each set can have beside and around the others, at most."""


class Forest(NamedTuple):
    """Sets inside others, as far as it is known.

    Attributes
    ----------
    inner : the sets directly inside each, of those of which that is known.
    roots : those that are known to lie in no other.
    upwards : all sets, each before the one around it.
    chains : sets that lie around each other, from each set that has none inside it outwards.
    """

    inner: Sequence[Sequence[int]]
    roots: Sequence[int]
    upwards: Sequence[int]
    chains: Sequence[Sequence[int]]

    @staticmethod
    def of(inside: Sequence[int], count: int) -> Forest:
        """Of so many sets, of the first of which it is known where they are."""
        inner: list[list[int]] = [[] for _ in range(count)]
        for number, its in enumerate(inside):
            if its != OUTSIDE:
                inner[its].append(number)
        downwards = [number for number in range(count) if number >= len(inside) or inside[number] == OUTSIDE]
        for number in downwards:
            downwards += inner[number]
        chains = [[number] for number in range(count) if not inner[number]]
        for chain in chains:
            while chain[-1] < len(inside) and inside[chain[-1]] != OUTSIDE:
                chain.append(inside[chain[-1]])
        return Forest(inner, [number for number, its in enumerate(inside) if its == OUTSIDE], downwards[::-1], chains)

    def beside(self, number: int) -> int:
        """How many accelerators of a set are at least in none of those that are known to be inside it, if it is a single one.

        They are its own, or in a set of which it is not said yet: all in one inside it would make both the same set.
        """
        return 1 if len(self.inner[number]) == 1 else 0


class Enclosing:
    """What sets that lie inside others take at least in the rooms in which a design can still be better than what is known.

    No accelerator works for two sets that lie around each other at once: together they have loads like a single one (see Keeping), each
    on as many accelerators as it likes of what is left to it by those inside it, beside it and around it.
    """

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping

    def can_lie(self, sets: Sequence[Sequence[str]], inside: Sequence[int]) -> bool:
        """Could these be all sets and the first of them lie so, the others wherever they like, in a design that is better?"""
        masks, forest = self._keeping.masks(sets), Forest.of(inside, len(sets))
        return any(self._fits(masks, forest, known) for known in self._keeping.rooms)

    def _fits(self, masks: Sequence[int], forest: Forest, known: Known) -> bool:
        room = known.room
        low, high = [0] * len(masks), [room.accelerators] * len(masks)
        for _ in range(ROUNDS):
            before = low[:]
            needs = self._needs(masks, known, low, high)
            if needs is None or sum(need.area for need in needs) > room.nanoseconds * room.accelerators:
                return False
            if not _fit(needs, forest, low, high, room):
                return False
            longest = self._longest(needs, forest, room)
            if sum(longest) > room.nanoseconds:
                return False
            for chain in forest.chains:
                for number in chain:
                    others = self._loads(needs, (each for each in chain if each != number))
                    low[number] = self._keeping.fewest(masks[number], low[number], longest, room, others)
            if low == before:
                return True
        return True

    def _needs(self, masks: Sequence[int], known: Known, low: Sequence[int], high: Sequence[int]) -> list[Need] | None:
        """What each set takes on so many accelerators; None where that is more than there is."""
        needs = []
        for mask, least, most in zip(masks, low, high):
            need = self._keeping.need(mask, known, least, most)
            if need is None:
                return None
            needs.append(need)
        return needs

    def _longest(self, needs: Sequence[Need], forest: Forest, room: Room) -> list[int]:
        """ns of each place of the loads."""
        loads = [self._loads(needs, chain) for chain in forest.chains]
        return self._keeping.longest(loads, [need.areas for need in needs], room.accelerators)

    def _loads(self, needs: Sequence[Need], sets: Iterable[int]) -> Loads:
        """The loads of sets that lie around each other."""
        found: Loads | None = None
        for each in sets:
            found = needs[each].loads if found is None else self._keeping.joined(found, needs[each].loads)
        return found or ()


def _fit(needs: Sequence[Need], forest: Forest, low: list[int], high: list[int], room: Room) -> bool:
    """Leaves each set the accelerators that those inside, beside and around it leave; whether these are enough."""
    for number in forest.upwards:
        inside = sum(low[each] for each in forest.inner[number]) + forest.beside(number)
        low[number] = max(low[number], needs[number].accelerators, inside)
    left = room.accelerators - sum(low[number] for number in forest.roots)
    for number in forest.roots:
        high[number] = min(high[number], low[number] + left)
    for number in reversed(forest.upwards):
        its = forest.inner[number]
        left = high[number] - sum(low[each] for each in its) - forest.beside(number)
        for each in its:
            high[each] = min(high[each], low[each] + left)
    return all(least <= most for least, most in zip(low, high))
