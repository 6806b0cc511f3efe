"""What an answer of a structure costs at least, from what is known of each of its sets by itself: quick, for very many structures."""

from __future__ import annotations

from bisect import bisect_left
from typing import Sequence

from .....models.planning.workload import SECONDS
from .curve import Curve
from .curves import Curves
from .least_needs import LeastNeeds
from .sizing import Greatest, Load, Sizing

Part = tuple[tuple[tuple[str, ...], ...], tuple[int, ...], tuple[int, ...]]
"""Sets, which of them lie inside which, and the tasks that run in a part of the iteration."""


class Least:
    """What structures cost at least: what is known of each part of the iteration is remembered, as very many structures share it."""

    def __init__(self) -> None:
        self.curves, self._needs = Curves(), LeastNeeds()
        self._used: dict[tuple[tuple[tuple[str, ...], ...], tuple[int, ...]], int | None] = {}
        self._parts: dict[Part, int | None] = {}

    def of(self, sizing: Sizing) -> tuple[int, int] | None:
        """No answer of the structure costs less; None if it has no answer at all. Each maximum is taken alone."""
        used = self.used(sizing)
        if used is None:
            return None
        time = 0
        for tasks in sizing.structure.parts:
            key = sizing.structure.sets, sizing.structure.inside, tasks
            if key not in self._parts:
                self._parts[key] = self._part(sizing, tasks)
            value = self._parts[key]
            if value is None:
                return None
            time += value
        time += sum(self.curves.of(sizing, load).least for load in sizing.crossing)
        return (time, used) if sizing.question.aim == SECONDS else (used, time)

    def used(self, sizing: Sizing) -> int | None:
        """The fewest accelerators that any answer takes; None if it has no answer at all."""
        key = sizing.structure.sets, sizing.structure.inside
        if key not in self._used:
            some = all(sizing.choices)
            used = sizing.fewest([its[0].accelerators for its in sizing.choices], sizing.choices) if some else sizing.most + 1
            self._used[key] = used if used <= sizing.most and self._needs.fit(sizing) else None
        return self._used[key]

    def _part(self, sizing: Sizing, tasks: Sequence[int]) -> int | None:
        """ns of the part of the iteration in which these tasks run; None if it cannot be."""
        time = 0
        for each in sizing.of_part(tasks):
            value = _slowest(sizing, self.curves, each)
            if value is None:
                return None
            shared = [_shared(sizing, self.curves, its) for its in each.sums if len(its) > 1]
            time += each.weight * max([value, *shared])
        return time

    def busiest(self, sizing: Sizing) -> tuple[int, int] | None:
        """No answer costs less in which no set works on two tasks at once, however the iteration is cut: some set works as long as this."""
        used = self.used(sizing)
        if used is None:
            return None
        time = _busiest(sizing, self.curves) * sizing.model.divisor(sizing.question)
        return (time, used) if sizing.question.aim == SECONDS else (used, time)


def _busiest(sizing: Sizing, curves: Curves) -> int:
    """The longest work of a set, in a batch, with the accelerators that there are."""
    least_of = [curves.all_of(sizing, number).least for number in range(len(sizing.choices))]
    beside = dict.fromkeys(sizing.roots, 0)
    for around in sizing.structure.around:
        if around[-1] in beside:
            beside[around[-1]] = max(beside[around[-1]], sum(least_of[number] for number in around[:-1]))
    low = max([sum(least_of[number] for number in around) for around in sizing.structure.around], default=0)
    rooted = [(curves.all_of(sizing, number), more) for number, more in beside.items()]
    values = sorted({low, *(value + more for curve, more in rooted for value in curve.values if value + more > low)})
    place = bisect_left(values, True, key=lambda value: sum(curve.needed(value - more) for curve, more in rooted) <= sizing.most)
    return values[min(place, len(values) - 1)]


def _slowest(sizing: Sizing, curves: Curves, each: Greatest) -> int | None:
    """The smallest value to which all sums of single sets can keep with the accelerators that there are."""
    fastest = max(sum(curves.of(sizing, load).least for load in its) for its in each.sums)
    single: dict[int, list[Curve]] = {}
    for its in each.sums:
        if len(its) == 1 and its[0][0] in sizing.roots:
            single.setdefault(its[0][0], []).append(curves.of(sizing, its[0]))
    others = sum(sizing.choices[number][0].accelerators for number in sizing.roots if number not in single)

    def used(value: int) -> int:
        return others + sum(max(curve.needed(value) for curve in its) for its in single.values())

    values = sorted({fastest, *(value for its in single.values() for curve in its for value in curve.values if value > fastest)})
    place = bisect_left(values, True, key=lambda value: used(value) <= sizing.most)
    return values[place] if place < len(values) else None


def _shared(sizing: Sizing, curves: Curves, loads: Sequence[Load]) -> int:
    """What a sum over several sets is at least: each accelerator is worth some time, at any price that is a bound."""
    inside = [curves.of(sizing, load) for load in loads if load[0] in sizing.roots]
    base = sum(curves.of(sizing, load).least for load in loads if load[0] not in sizing.roots)
    taken = {load[0] for load in loads}
    room = sizing.most - sum(sizing.choices[number][0].accelerators for number in sizing.roots if number not in taken)
    worths = sorted({0.0, *(slope for curve in inside for slope in curve.slopes)})
    place = bisect_left(worths, True, key=lambda worth: sum(curve.used(worth) for curve in inside) <= room)
    bounds = []
    for worth in worths[max(place - 1, 0) : place + 1]:
        over, under = worth.as_integer_ratio()
        total = sum(curve.cheapest(over, under) for curve in inside) - over * room
        bounds.append(-(-total // under))
    return base + max(bounds)
