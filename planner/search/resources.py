"""Propagation of accelerators and rows: choices that leave others no room are removed."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import Iterable, Sequence

from ...models.record import dataclass
from .limits import Row
from .sizing import Sizing

Left = list[list[int]]
"""For each set, the places of the choices that are left, which are in the order of their accelerators."""


@dataclass(frozen=True)
class Resources:
    """What the sets of one structure use together.

    Attributes
    ----------
    accelerators : for each set, those of its choices.
    """

    sizing: Sizing
    accelerators: list[list[int]]

    def narrow(self, left: Left, most: int) -> bool:
        """Leaves out what cannot be used with so many accelerators; whether anything is left."""
        sizing = self.sizing
        self._enough_of_all(left, sizing.roots, most)
        for kind, its in enumerate(sizing.question.kinds):
            if len(sizing.question.kinds) > 1 and all(left):
                self._enough_of(kind, left, sizing.roots, its.accelerators)
        for number, inner in enumerate(sizing.inner):
            if inner and all(left):
                self._inside(left, number, inner)
        for row, weights in self._weighed:
            if all(left):
                self._within(left, row.sets, row.most, weights)
        return all(left)

    @cached_property
    def _weighed(self) -> list[tuple[Row, dict[int, list[int]]]]:
        """Each row with what the choices of its sets weigh."""
        return [
            (row, {number: [row.weigh(number, choice.options) for choice in self.sizing.choices[number]] for number in row.sets})
            for row in self.sizing.rows
        ]

    def _within(self, left: Left, sets: Sequence[int], most: int, weights: dict[int, list[int]]) -> None:
        """What these sets weigh is no more than `most`."""
        least = {number: min(map(weights[number].__getitem__, left[number])) for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            its, limit = weights[number], least[number] + spare
            left[number] = [place for place in left[number] if its[place] <= limit]

    def _enough_of_all(self, left: Left, sets: Sequence[int], most: int) -> None:
        """So many accelerators are enough for these sets: what is left of each begins with those that take the fewest."""
        least = {number: self.accelerators[number][left[number][0]] for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            its, limit = self.accelerators[number], least[number] + spare
            if its[left[number][-1]] > limit:
                left[number] = left[number][: bisect_right(left[number], limit, key=its.__getitem__)]

    def _enough_of(self, kind: int, left: Left, sets: Sequence[int], most: int) -> None:
        """So many accelerators of one kind are enough for these sets."""

        def uses(number: int, place: int) -> int:
            return self.accelerators[number][place] if kind == self.sizing.choices[number][place].kind else 0

        least = {number: min(uses(number, place) for place in left[number]) for number in sets}
        spare = most - sum(least.values())
        for number in sets:
            left[number] = [place for place in left[number] if uses(number, place) <= least[number] + spare]

    def _inside(self, left: Left, number: int, inner: Iterable[int]) -> None:
        """A set has room for those directly inside it, of the same kind."""
        choices = self.sizing.choices
        kinds = {choices[number][place].kind for place in left[number]}.intersection(
            *({choices[each][place].kind for place in left[each]} for each in inner)
        )
        for each in (number, *inner):
            left[each] = [place for place in left[each] if choices[each][place].kind in kinds]
        if not all(left):
            return
        needed = {each: self.accelerators[each][left[each][0]] for each in inner}
        total = sum(needed.values()) + self.sizing.left_over(number)
        left[number] = [place for place in left[number] if self.accelerators[number][place] >= total]
        if left[number]:
            spare = self.accelerators[number][left[number][-1]] - total
            for each, least in needed.items():
                left[each] = [place for place in left[each] if self.accelerators[each][place] <= least + spare]
