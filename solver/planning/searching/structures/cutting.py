"""A good way to cut an iteration into parts, given who shares accelerators with whom and how long each task takes."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Iterator, Sequence

from .....models.planning.question import Question
from ...costs.cost_model import CostModel
from ..price import ENDLESS
from .at_once import Sets, Tasks, conflicts, numbers, units

Segments = tuple[int, ...]


def good_cut(question: Question, model: CostModel, users: Sets, times: Sequence[int]) -> Segments | None:
    """For each task its part: the best of those that cut one of two orders of all tasks; None where rounds leave no such order.

    Parts that could be one are one, and they come in the order of `segmentations`: what is looked at there has no other name here.

    Parameters
    ----------
    users : the components on the accelerators of each set.
    times : of each task, in ns of an iteration.
    """
    if model.by_phase:
        return tuple(model.segment(question, task) for task in range(len(question.tasks)))
    apart = conflicts(question, model, users)
    together = units(question, apart)
    apart |= {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    found = [cut for ranks in _ranks(question, users, times) if (cut := _of_order(question, together, apart, ranks, times)) is not None]
    return _as_listed(question, apart, min(found)[1]) if found else None


def listed(question: Question, model: CostModel, users: Sets, parts: Sequence[Tasks]) -> Segments | None:
    """A cut as `segmentations` has it, with the parts as one that could be; None where these users cannot have it.

    Parameters
    ----------
    users : the components on the accelerators of each set.
    parts : the tasks of each part.
    """
    apart = conflicts(question, model, users)
    if any(unit & part not in (0, unit) for unit in units(question, apart) for part in parts):
        return None
    apart |= {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    if any((one, other) in apart or (other, one) in apart for part in parts for one, other in combinations(numbers(part), 2)):
        return None
    of = {task: number for number, part in enumerate(parts) for task in numbers(part)}
    return _as_listed(question, apart, tuple(of[task] for task in range(len(question.tasks))))


def _as_listed(question: Question, apart: set[tuple[int, int]], segments: Segments) -> Segments | None:
    """The same with no two parts that could be one, and of those that need not wait the one with the first task first; None where some wait for each other."""
    parts = [[task for task, its in enumerate(segments) if its == part] for part in range(max(segments, default=-1) + 1)]
    while joined := next(_joined(question, apart, parts), None):
        parts = joined
    ordered = _ordered(question, [sum(1 << task for task in its) for its in parts], range(len(segments)))
    if ordered is None:
        return None
    return tuple(next(number for number, its in enumerate(ordered) if task in its) for task in range(len(segments)))


def _joined(question: Question, apart: set[tuple[int, int]], parts: Sequence[list[int]]) -> Iterator[list[list[int]]]:
    """The parts with two of them as one, where these can run at the same time and none of all waits for itself then."""
    for one, other in combinations(parts, 2):
        if not any((a, b) in apart or (b, a) in apart for a in one for b in other):
            its = [*(each for each in parts if each is not one and each is not other), sorted([*one, *other])]
            if _ordered(question, [sum(1 << task for task in each) for each in its], range(len(question.tasks))) is not None:
                yield its


def _ranks(question: Question, users: Sets, times: Sequence[int]) -> Iterator[list[int]]:
    """What comes first where it need not wait: as it is written, or the longest task of each set, then the second longest."""
    count = len(question.tasks)
    yield list(range(count))
    ranks = [0] * count
    for its in users:
        mine = sorted((task for name in its for task in question.tasks_of[name]), key=lambda task: (-times[task], task))
        for place, task in enumerate(mine):
            ranks[task] = max(ranks[task], place)
    yield [rank * count + task for task, rank in enumerate(ranks)]


def _of_order(
    question: Question, together: Sequence[Tasks], apart: set[tuple[int, int]], ranks: Sequence[int], times: Sequence[int]
) -> tuple[int, Segments] | None:
    """The best cut of an order, with its ns; parts are as long as the model `stream` says."""
    order = _ordered(question, together, ranks)
    if order is None:
        return None
    best, before = [0] + [ENDLESS] * len(order), [0] * (len(order) + 1)
    for first in range(len(order)):
        tasks: list[int] = []
        for last in range(first, len(order)):
            joined = sorted([*tasks, *order[last]])
            if tasks and any(pair in apart or pair[::-1] in apart for pair in combinations(joined, 2)):
                break
            tasks = joined
            time = best[first] + _time(question, tasks, times)
            if time < best[last + 1]:
                best[last + 1], before[last + 1] = time, first
    segments, at, part = [0] * len(question.tasks), len(order), 0
    while at:
        for task in (task for its in order[before[at] : at] for task in its):
            segments[task] = part
        at, part = before[at], part - 1
    return best[-1], tuple(segment - part - 1 for segment in segments)


def _ordered(question: Question, together: Sequence[Tasks], ranks: Sequence[int]) -> list[list[int]] | None:
    """What runs together in any case, none before what it waits for; None where some wait for each other."""
    members = [[task for task in range(len(question.tasks)) if unit >> task & 1] for unit in together]
    of = {task: number for number, its in enumerate(members) for task in its}
    waits = [{of[edge.earlier] for edge in question.edges if of[edge.later] == number} - {number} for number in range(len(members))]
    ready = [(min(ranks[task] for task in its), number) for number, its in enumerate(members) if not waits[number]]
    heapify(ready)
    found: list[list[int]] = []
    while ready:
        _, number = heappop(ready)
        found.append(members[number])
        for other, its in enumerate(waits):
            if number in its:
                its.discard(number)
                if not its:
                    heappush(ready, (min(ranks[task] for task in members[other]), other))
    return found if len(found) == len(members) else None


def _time(question: Question, tasks: Sequence[int], times: Sequence[int]) -> int:
    batches, until = question.batches, dict[int, int]()
    for task in tasks:
        before = (until[edge.earlier] for edge in question.edges if edge.later == task and edge.earlier in until)
        until[task] = times[task] // batches + max(before, default=0)
    return max(until.values()) + (batches - 1) * max(times[task] // batches for task in tasks)
