"""What an iteration of a structure takes at least, found without a search."""

from __future__ import annotations

from typing import Iterable, Sequence

from ..costs.cost_model import Maximum
from .choices import Choice
from .sizing import Sizing


def least(sizing: Sizing) -> int | None:
    """No answer of the structure takes fewer ns; None if it has no answer at all.

    Each maximum is taken alone: the smallest value for which every set still has a choice and these fit into what there is.
    """
    if not all(sizing.choices):
        return None
    best = [[min(choice.times[place] for choice in its) for place in range(len(its[0].times))] for its in sizing.choices]
    found = 0
    for each in sizing.maxima:
        value = _maximum(sizing, each, best)
        if value is None:
            return None
        found += each.weight * value
    return found


def _maximum(sizing: Sizing, maximum: Maximum, best: Sequence[Sequence[int]]) -> int | None:
    floor, alone = 0, dict[int, list[tuple[int, ...]]]()
    for tasks in maximum.sums:
        floor = max(floor, sum(best[number][place] for number, place in map(sizing.place.__getitem__, tasks)))
        sets = {sizing.place[task][0] for task in tasks}
        if len(sets) == 1:
            alone.setdefault(sets.pop(), []).append(tuple(sizing.place[task][1] for task in tasks))
    values = {floor}
    for number, groups in alone.items():
        values.update(value for choice in sizing.choices[number] if (value := _value(choice, groups)) > floor)
    steps = sorted(values)
    low, high = 0, len(steps) - 1
    if not _fit(sizing, alone, steps[high]):
        return None
    while low < high:
        middle = (low + high) // 2
        if _fit(sizing, alone, steps[middle]):
            high = middle
        else:
            low = middle + 1
    return steps[low]


def _value(choice: Choice, groups: Iterable[tuple[int, ...]]) -> int:
    return max(sum(choice.times[place] for place in places) for places in groups)


def _fit(sizing: Sizing, groups: dict[int, list[tuple[int, ...]]], value: int) -> bool:
    """Do the fewest accelerators with which each set keeps to the value fit into what there is?"""
    used = 0
    for number in sizing.roots:
        its = sizing.choices[number]
        kept = its if number not in groups else [choice for choice in its if _value(choice, groups[number]) <= value]
        if not kept:
            return False
        used += min(choice.accelerators for choice in kept)
    return used <= sizing.most


def fewest(sizing: Sizing) -> int:
    """No answer of the structure uses fewer accelerators."""
    return sum(min(choice.accelerators for choice in sizing.choices[number]) for number in sizing.roots)
