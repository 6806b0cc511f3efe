"""What any design of a question takes at least: all work, spread over all accelerators as if each of them could do any part of it."""

from __future__ import annotations

from typing import Callable

from .....models.planning.question import Question
from .....models.planning.workload import SECONDS
from ...costs.cost_model import CostModel
from ..price import ENDLESS, Price
from .busy import Busy, Room


def least(question: Question, model: CostModel) -> Price | None:
    """No design costs less in a cost model that is `full`; None if there is none at all."""
    busy = Busy(question)
    budget = question.budget.nanoseconds
    within = ENDLESS if budget is None else budget
    time = shortest(busy)
    if time is None or time > within:
        return None
    if question.aim == SECONDS:
        return max(time, _by_phases(question, model) if model.by_phase else 0), 0
    used = _first(0, busy.most, lambda most: has_room(busy, Room(within, most)))
    return None if used is None else (max(used, sum(each.accelerators for each in question.shared)), 0)


def shortest(busy: Busy) -> int | None:
    """ns that all work takes at least on the accelerators that there are; None if some of it has no place on them.

    No accelerator works on two tasks at once. So the least time of accelerators that each component's work takes, if it is to end within
    an iteration, is together no more than what the accelerators have in it.
    """
    needs = [busy.need(work, Room(ENDLESS, busy.most)) for work in busy.of.values()]
    areas = [need.area for need in needs if need is not None]
    if len(areas) < len(needs):
        return None
    return _first(busy.beside, max(busy.beside, sum(areas)), lambda time: has_room(busy, Room(time, busy.most)))


def has_room(busy: Busy, room: Room) -> bool:
    """Is there room for all work, for all that is known of each component by itself?"""
    left = room.nanoseconds * room.accelerators
    for work in busy.of.values():
        need = busy.need(work, room)
        if need is None:
            return False
        left -= need.area
    return left >= 0 and busy.beside <= room.nanoseconds


def _by_phases(question: Question, model: CostModel) -> int:
    """The same of the work of each stage by itself: one begins when the one before it has ended."""
    stages: dict[int, set[int]] = {}
    for task in range(len(question.tasks)):
        stages.setdefault(model.segment(question, task), set()).add(task)
    return sum(shortest(Busy(question, its)) or 0 for its in stages.values())


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The smallest number from `low` to `high` for which something holds that holds for all larger ones too."""
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high
