"""Relaxations: less memory, and the busiest accelerators, which bound arrangements before any structure is searched."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from operator import add
from typing import Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.problem import PlanningProblem
from .choices import BlockChoices, parts_of, tasks_of
from .found import ENDLESS, Price
from .structures import OUTSIDE, BlockStructure, Inside


def with_least_memory(question: PlanningProblem) -> PlanningProblem:
    """Return the problem with the least memory of each kind and amount.

    Every real design fits here in the same time, and only the quickest option of each amount is
    undominated.
    """
    options = {}
    for name, candidates in question.options.items():
        needs: dict[tuple[int, int], tuple[int, int]] = {}
        for option in candidates:
            memory, offloaded = needs.get((option.kind, option.amount), (option.memory, option.kept))
            needs[option.kind, option.amount] = min(memory, option.memory), min(offloaded, option.kept)
        relaxations = (
            replace(option, memory=needs[option.kind, option.amount][0], kept=needs[option.kind, option.amount][1]) for option in candidates
        )
        options[name] = tuple(dict.fromkeys(relaxations))
    return replace(question, options=options)


Sets = Sequence[Sequence[str]]


class Curve:
    """Least time of a set in ns, as a step function of its accelerators."""

    def __init__(self, choices: Sequence[tuple[int, int]]) -> None:
        """`choices` : (accelerators, ns), fewest accelerators first."""
        self.fewest = choices[0][0]
        self.steps: list[tuple[int, int]] = []
        """(-ns, accelerators), slowest first; each step is quicker than all with fewer accelerators."""
        for accelerators, time in choices:
            if not self.steps or -time > self.steps[-1][0]:
                if self.steps and self.steps[-1][1] == accelerators:
                    self.steps.pop()
                self.steps.append((-time, accelerators))

    def count_needed(self, time: int) -> int:
        """Return the fewest accelerators within a time, ns; `ENDLESS` if none suffice."""
        place = bisect_left(self.steps, (-time, 0))
        return self.steps[place][1] if place < len(self.steps) else ENDLESS


def raise_bound(curves: Sequence[Curve], lower_bound: int, most: int) -> int:
    """Return the least ns, at least `lower_bound`, with all sets on `most` accelerators."""
    values = sorted({lower_bound, *(-step for curve in curves for step, _ in curve.steps if -step > lower_bound)})
    place = bisect_left(values, True, key=lambda value: sum(curve.count_needed(value) for curve in curves) <= most)
    return values[min(place, len(values) - 1)]


Work = tuple[Curve, tuple[int, ...]]
"""Least time of a set, and its least ns in each segment."""


class Busiest:
    """Lower bounds by the work on the accelerators, before any structure is listed.

    In each segment the busiest accelerators work as long as all sets around them together, and all
    outermost sets share the accelerators.
    """

    def __init__(self, question: PlanningProblem, model: CostModel, choices: BlockChoices) -> None:
        self._question, self._ways = question, choices
        self._full, self._divisor = model.full, model.divisor(question)
        self._segments = tuple(model.segment(question, task) if model.by_phase else 0 for task in range(len(question.tasks)))
        limit = question.budget.accelerators
        self.most = question.accelerators if limit is None else min(question.accelerators, limit)
        self._works: dict[tuple[str, ...], Work | None] = {}

    def floor(self, sets: Sets, parents: Inside | None) -> Price | None:
        """Return a lower bound for designs with at least these sets; None if infeasible.

        `parents`: for the first sets, the set around each; None where unknown for all.
        """
        works = [work for members in sets if (work := self._work(tuple(members))) is not None]
        if len(works) < len(sets):
            return None
        count, longest = max(curve.fewest for curve, _ in works), [0] * len(works[0][1])
        for number, (_, loads) in enumerate(works):
            outer = number
            while parents and outer < len(parents) and (outer := parents[outer]) != OUTSIDE:
                loads = tuple(map(add, loads, works[outer][1]))
            longest = list(map(max, longest, loads))
        time = sum(longest)
        if parents is not None:
            roots = [curve for (curve, _), outer in zip(works, parents) if outer == OUTSIDE]
            count = sum(curve.fewest for curve in roots)
            if count > self.most:
                return None
            time = raise_bound(roots, time, self.most)
        return self._question.by_aim(time if self._full else 0, count)

    def _work(self, members: tuple[str, ...]) -> Work | None:
        if members not in self._works:
            structure = BlockStructure((members,), (OUTSIDE,), self._segments)
            places = parts_of(structure, tasks_of(self._question, members))
            choices = self._ways.choices_of(structure, 0)
            loads = [
                [choice.loads[places.index(segment)] * self._divisor if segment in places else 0 for choice in choices]
                for segment in range(max(self._segments, default=0) + 1)
            ]
            steps = [(choice.accelerators, sum(times)) for choice, times in zip(choices, zip(*loads))]
            self._works[members] = (Curve(steps), tuple(map(min, loads))) if choices else None
        return self._works[members]
