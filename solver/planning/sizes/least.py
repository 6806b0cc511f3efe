"""What an answer of a structure costs at least, from what is known of each of its sets by itself: quick, for very many structures."""

from __future__ import annotations

from typing import Sequence

from ....models.planning.workload import SECONDS
from .curves import Curve, Curves
from .sizing import Greatest, Load, Sizing

HALVINGS = 60
"""Times that the worth of an accelerator is narrowed by half; any value gives a bound."""


def least(sizing: Sizing, curves: Curves) -> tuple[int, int] | None:
    """No answer of the structure costs less; None if it has no answer at all. Each maximum is taken alone."""
    if not all(sizing.choices):
        return None
    used = sum(sizing.choices[number][0].accelerators for number in sizing.roots)
    if used > sizing.most:
        return None
    time = 0
    for each in sizing.greatest:
        value = _slowest(sizing, curves, each)
        if value is None:
            return None
        shared = [_shared(sizing, curves, its) for its in each.sums if len(its) > 1]
        time += each.weight * max([value, *shared])
    return (time, used) if sizing.question.aim == SECONDS else (used, time)


def busiest(sizing: Sizing, curves: Curves) -> tuple[int, int] | None:
    """No answer costs less in which no set works on two tasks at once, however the iteration is cut: some set works as long as this."""
    if not all(sizing.choices):
        return None
    used = sum(sizing.choices[number][0].accelerators for number in sizing.roots)
    if used > sizing.most:
        return None
    least_of = [curves.all_of(sizing, number).least for number in range(len(sizing.choices))]
    beside = dict.fromkeys(sizing.roots, 0)
    for around in sizing.structure.around:
        if around[-1] in beside:
            beside[around[-1]] = max(beside[around[-1]], sum(least_of[number] for number in around[:-1]))
    low = max([sum(least_of[number] for number in around) for around in sizing.structure.around], default=0)
    high = max([low, *(curves.all_of(sizing, number).slowest + more for number, more in beside.items())])
    while low < high:
        middle = (low + high) // 2
        if sum(curves.all_of(sizing, number).needed(middle - more) for number, more in beside.items()) <= sizing.most:
            high = middle
        else:
            low = middle + 1
    time = low * sizing.model.divisor(sizing.question)
    return (time, used) if sizing.question.aim == SECONDS else (used, time)


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

    low, high = fastest, max([fastest, *(curve.slowest for its in single.values() for curve in its)])
    if used(high) > sizing.most:
        return None
    while low < high:
        middle = (low + high) // 2
        if used(middle) <= sizing.most:
            high = middle
        else:
            low = middle + 1
    return low


def _shared(sizing: Sizing, curves: Curves, loads: Sequence[Load]) -> int:
    """What a sum over several sets is at least: each accelerator is worth some time, at any price that is a bound."""
    inside = [curves.of(sizing, load) for load in loads if load[0] in sizing.roots]
    base = sum(curves.of(sizing, load).least for load in loads if load[0] not in sizing.roots)
    taken = {load[0] for load in loads}
    room = sizing.most - sum(sizing.choices[number][0].accelerators for number in sizing.roots if number not in taken)
    low, high = 0.0, max((curve.slopes[0] for curve in inside if curve.slopes), default=0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if sum(curve.used(middle) for curve in inside) > room:
            low = middle
        else:
            high = middle
    bounds = []
    for worth in (low, high):
        over, under = worth.as_integer_ratio()
        total = sum(curve.cheapest(over, under) for curve in inside) - over * room
        bounds.append(-(-total // under))
    return base + max(bounds)
