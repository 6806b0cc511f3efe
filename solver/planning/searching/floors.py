"""Lower bounds of structures at first sight: each part of the iteration as if it had all accelerators, remembered by part."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import cached_property
from typing import Sequence

from ....models.planning.workload import SECONDS
from .price import ENDLESS, Price
from .sizes.choice import Key
from .sizes.hull import Step, hull
from .sizes.sizing import Greatest, Load, Sizing

Part = tuple[tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...]]
"""Sets, which of them lie inside which, and the tasks of a part of the iteration."""


class Curve:
    """The least ns of a load of a set by its accelerators."""

    def __init__(self, choices: Sequence[tuple[int, int]]) -> None:
        """`choices` : (accelerators, ns), the fewest accelerators first."""
        self.steps: list[tuple[int, int]] = []
        """(-ns, accelerators), the slowest first: each is quicker than all with fewer accelerators."""
        for accelerators, time in choices:
            if not self.steps or -time > self.steps[-1][0]:
                if self.steps and self.steps[-1][1] == accelerators:
                    self.steps.pop()
                self.steps.append((-time, accelerators))

    @property
    def least(self) -> int:
        """The least ns, on any accelerators."""
        return -self.steps[-1][0]

    @cached_property
    def hull(self) -> Sequence[Step]:
        """The lower convex hull of ns over accelerators."""
        return hull([(accelerators, -step, 0) for step, accelerators in self.steps])

    def needed(self, time: int) -> int:
        """The fewest accelerators with which it takes no more than so many ns; more than there are if none do."""
        place = bisect_left(self.steps, (-time, 0))
        return self.steps[place][1] if place < len(self.steps) else ENDLESS


class Floors:
    """Lower bounds of structures."""

    def __init__(self) -> None:
        self._curves: dict[tuple[Key, int], Curve] = {}
        self._parts: dict[Part, int | None] = {}

    def of(self, sizing: Sizing) -> Price | None:
        """No design of the structure costs less; None: it has none."""
        if not all(sizing.choices):
            return None
        used = sizing.fewest([its[0].accelerators for its in sizing.choices], sizing.choices)
        if used > sizing.most:
            return None
        time = sum(self._curve(sizing, load).least for load in sizing.crossing)
        for tasks in sizing.structure.parts:
            key = sizing.structure.sets, sizing.structure.inside, tasks
            if key not in self._parts:
                self._parts[key] = self._part(sizing, tasks)
            part = self._parts[key]
            if part is None:
                return None
            time += part
        return (time, used) if sizing.question.aim == SECONDS else (used, time)

    def _part(self, sizing: Sizing, tasks: Sequence[int]) -> int | None:
        time = 0
        for each in sizing.of_part(tasks):
            slowest = self._slowest(sizing, each)
            if slowest is None:
                return None
            sums = (self._sum(sizing, its) for its in each.sums if len(its) > 1)
            time += each.weight * max([slowest, *sums])
        return time

    def _sum(self, sizing: Sizing, loads: Sequence[Load]) -> int:
        """What several sets take one after another at least: accelerators go where they save most, along each curve's lower hull."""
        total, gains = 0, list[tuple[Fraction, int]]()
        spare = sizing.most - sum(sizing.choices[number][0].accelerators for number in sizing.roots)
        for load in loads:
            curve = self._curve(sizing, load)
            if load[0] not in sizing.roots:
                total += curve.least
                continue
            line = curve.hull
            total += line[0][1]
            gains += [
                (Fraction(before - after, more - fewer), more - fewer) for (fewer, before, _), (more, after, _) in zip(line, line[1:])
            ]
        saved = Fraction(0)
        for slope, step in sorted(gains, reverse=True):
            if spare <= 0:
                break
            saved += slope * min(step, spare)
            spare -= step
        return total - int(saved)

    def _slowest(self, sizing: Sizing, each: Greatest) -> int | None:
        """The least value that no sum of a single set exceeds on the accelerators there are; None: they are too few."""
        least = max(sum(self._curve(sizing, load).least for load in its) for its in each.sums)
        single: dict[int, list[Curve]] = {}
        for its in each.sums:
            if len(its) == 1 and its[0][0] in sizing.roots:
                single.setdefault(its[0][0], []).append(self._curve(sizing, its[0]))
        others = sum(sizing.choices[number][0].accelerators for number in sizing.roots if number not in single)

        def fits(value: int) -> bool:
            return others + sum(max(curve.needed(value) for curve in its) for its in single.values()) <= sizing.most

        values = sorted({least, *(-step for its in single.values() for curve in its for step, _ in curve.steps if -step > least)})
        place = bisect_left(values, True, key=fits)
        return values[place] if place < len(values) else None

    def _curve(self, sizing: Sizing, load: Load) -> Curve:
        number, part = load
        key = sizing.keys[number], part
        if key not in self._curves:
            self._curves[key] = Curve([(choice.accelerators, choice.loads[part]) for choice in sizing.choices[number]])
        return self._curves[key]
