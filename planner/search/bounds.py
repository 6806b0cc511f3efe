"""Relaxations: less memory, and the busiest accelerators, which bound arrangements before any structure is searched."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import Sequence

from ...models.planning.cost_models import CostModel
from ...models.planning.option import Option
from ...models.planning.problem import PlanningProblem
from .choices import BlockChoices, tasks_of
from .found import ENDLESS, Price
from .structures import OUTSIDE, BlockStructure


def with_least_memory(question: PlanningProblem) -> PlanningProblem:
    """Return the problem with the least memory of each kind and amount.

    Every real design fits here in the same time, and only the quickest option of each amount is
    undominated.
    """
    options = {}
    for name, candidates in question.options.items():
        same: dict[tuple[int, int], list[Option]] = {}
        for option in candidates:
            same.setdefault((option.kind, option.amount), []).append(option)
        least = {amount: (min(option.memory for option in alike), min(option.kept for option in alike)) for amount, alike in same.items()}
        changed = (_with_memory(option, *least[option.kind, option.amount]) for option in candidates)
        options[name] = tuple(dict.fromkeys(changed))
    return replace(question, options=options)


def _with_memory(option: Option, memory: int, kept: int) -> Option:
    return replace(option, memory=memory, kept=kept)


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

    @property
    def least(self) -> int:
        """Least ns on any number of accelerators."""
        return -self.steps[-1][0]

    def needed(self, time: int) -> int:
        """Return the fewest accelerators within a time, ns; `ENDLESS` if none suffice."""
        place = bisect_left(self.steps, (-time, 0))
        return self.steps[place][1] if place < len(self.steps) else ENDLESS


def raised(curves: Sequence[Curve], least: int, most: int) -> int:
    """Return the least ns, at least `least`, with all sets on `most` accelerators."""
    values = sorted({least, *(-step for curve in curves for step, _ in curve.steps if -step > least)})
    place = bisect_left(values, True, key=lambda value: sum(curve.needed(value) for curve in curves) <= most)
    return values[min(place, len(values) - 1)]


class Busiest:
    """Lower bounds by the cost model `steady`, a relaxation of models with tasks in turns.

    A model qualifies if it runs tasks on the same accelerators one after another: the busiest
    accelerators then work at least this long.
    """

    def __init__(self, question: PlanningProblem, model: CostModel, ways: BlockChoices) -> None:
        self._question, self._ways = question, ways
        self._full, self._divisor = model.full, model.divisor(question)
        limit = question.budget.accelerators
        self._most = question.accelerators if limit is None else min(question.accelerators, limit)
        self._curves: dict[tuple[str, ...], Curve | None] = {}

    def floor(self, sets: Sequence[Sequence[str]], inside: Sequence[int] | None) -> Price | None:
        """Return a lower bound for designs with at least these sets; None if infeasible.

        `inside`: for the first sets, the set around each; None where unknown for all.
        """
        curves = [curve for members in sets if (curve := self._curve(tuple(members))) is not None]
        if len(curves) < len(sets):
            return None
        time, used = max(curve.least for curve in curves), max(curve.fewest for curve in curves)
        if inside is not None:
            roots = [curve for curve, outer in zip(curves, inside) if outer == OUTSIDE]
            used = sum(curve.fewest for curve in roots)
            if used > self._most:
                return None
            time = raised(roots, time, self._most)  # the outermost sets share the accelerators
        return self._question.by_aim(time if self._full else 0, used)

    def _curve(self, members: tuple[str, ...]) -> Curve | None:
        if members not in self._curves:
            is_timed = bool(tasks_of(self._question, members))
            choices = self._ways.choices_of(BlockStructure((members,), (OUTSIDE,), (0,) * len(self._question.tasks)), 0)
            times = [(choice.accelerators, choice.loads[0] * self._divisor if is_timed else 0) for choice in choices]
            self._curves[members] = Curve(times) if times else None
        return self._curves[members]
