"""Which components may share accelerators in a cut of an iteration that keeps to a time."""

from __future__ import annotations

from itertools import combinations
from typing import Callable, Mapping, Sequence

from .....models.planning.question import Question
from ..structures.at_once import Tasks, numbers

Pairs = int
"""A set of pairs of tasks: a bit for each of them."""
LOOKED = 0.00000003
"""Deterministic seconds that it counts for to look at one cut."""


class Within:
    """Some cuts of an iteration, without an order of their parts, by the pairs of tasks that run at the same time in them."""

    def __init__(self, question: Question, cuts: Sequence[Sequence[Tasks]], spend: Callable[[float], bool]) -> None:
        """`spend` so many deterministic seconds."""
        self._spend, size = spend, len(question.tasks)
        self._beside = [[1 << (min(one, other) * size + max(one, other)) for other in range(size)] for one in range(size)]
        tasks = question.tasks_of
        self._between: Mapping[tuple[str, str], Pairs] = {
            (one, other): self._pairs(tasks.get(one, ()), tasks.get(other, ()))
            for one in question.components
            for other in question.components
        }
        self._cuts = self._finest(cuts)
        self._known: dict[Pairs, bool] = {}

    def allows(self, users: Sequence[Sequence[str]]) -> bool:
        """Does one of the cuts let no two run at the same time who share accelerators, where these use the same ones?"""
        out = 0
        for its in users:
            for pair in combinations(its, 2):
                out |= self._between[pair]
        if out not in self._known:
            self._known[out] = self._is_free(out)
        return self._known[out]

    def _is_free(self, out: Pairs) -> bool:
        """Is there a cut with none of these pairs?"""
        place = next((place for place, each in enumerate(self._cuts) if not each & out), None)
        self._spend(LOOKED * (len(self._cuts) if place is None else place + 1))
        if place:  # what is asked next is much like it
            self._cuts.insert(0, self._cuts.pop(place))
        return place is not None

    def _pairs(self, some: Sequence[int], others: Sequence[int]) -> Pairs:
        found = 0
        for one in some:
            for other in others:
                if one != other:
                    found |= self._beside[one][other]
        return found

    def _finest(self, cuts: Sequence[Sequence[Tasks]]) -> list[Pairs]:
        """The pairs of each cut, without those of which another has one task by itself and is else the same: it is free of as much."""
        inner: dict[Tasks, Pairs] = {}
        for part in {part for cut in cuts for part in cut}:
            its = numbers(part)
            inner[part] = sum(self._beside[one][other] for one, other in combinations(its, 2))
        every = {sum(inner[part] for part in cut): cut for cut in cuts}
        self._spend(LOOKED * len(self._beside) * len(every))

        def is_coarse(pairs: Pairs, cut: Sequence[Tasks]) -> bool:
            return any(
                (pairs & ~self._pairs([task], its)) in every for part in cut if part & part - 1 for its in [numbers(part)] for task in its
            )

        return sorted((pairs for pairs, cut in every.items() if not is_coarse(pairs, cut)), key=int.bit_count)
