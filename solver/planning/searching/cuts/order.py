"""In which order an iteration can be cut into parts: which tasks can be one part, which can come before all others, and the shortest way."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import combinations
from typing import Callable, Iterator, Mapping, Sequence

from .....models.planning.question import Question
from ..structures.at_once import Tasks, numbers

After = Mapping[Tasks, Sequence[Tasks]]
"""For each set of tasks that can come before all others, the larger ones of these between which and it a part can run."""


def apart(question: Question) -> Sequence[Tasks]:
    """For each task, those that cannot run with it in any structure: of the same component, on its accelerators, one at a time, or after all of it.

    For models in which tasks of a part lie on different accelerators.
    """
    found = [0] * len(question.tasks)
    shared = question.together | question.within | question.one_at_a_time
    whole = {(edge.earlier, edge.later) for edge in question.edges if edge.whole}
    for one, other in combinations(range(len(question.tasks)), 2):
        names = question.tasks[one].component, question.tasks[other].component
        if names[0] == names[1] or names in shared or names[::-1] in shared or (one, other) in whole or (other, one) in whole:
            found[one] |= 1 << other
            found[other] |= 1 << one
    return found


def beginnings(question: Question, most: int) -> Sequence[Tasks]:
    """Sets of tasks that can come before all others: none of them works on what is still to come. One more than `most` where there are more."""
    earlier = [0] * len(question.tasks)
    for edge in question.edges:
        earlier[edge.later] |= 1 << edge.earlier
    found, seen = [0], {0}
    for tasks in found:
        for task, its in enumerate(earlier):
            more = tasks | 1 << task
            if more != tasks and not its & ~tasks and more not in seen:
                seen.add(more)
                found.append(more)
        if len(found) > most:
            return found[: most + 1]
    return found


def after(question: Question, before: Sequence[Tasks]) -> After:
    """What can follow each of these sets, which are all that can come before all others."""
    other = apart(question)

    def can_be(part: Tasks) -> bool:
        return not any(other[task] & part for task in numbers(part))

    return {one: [beyond for beyond in before if one != beyond and not one & ~beyond and can_be(beyond & ~one)] for one in before}


def shortest(ways: After, takes: Callable[[Tasks], int]) -> tuple[int, list[Tasks]]:
    """The parts of the cut that comes to the least, in their order, and what it comes to, in ns; `takes` says it of each part."""
    every, waiting, best = max(ways), [(0, 0)], {0: (0, 0)}
    while waiting:
        time, at = heappop(waiting)
        if at == every:
            break
        if time > best[at][0]:
            continue
        for beyond in ways[at]:
            total = time + takes(beyond & ~at)
            if beyond not in best or total < best[beyond][0]:
                best[beyond] = total, at
                heappush(waiting, (total, beyond))
    parts, at = [], every
    while at:
        parts.append(at & ~best[at][1])
        at = best[at][1]
    return best[every][0], parts[::-1]


def within(
    ways: After, takes: Callable[[Tasks], int], most: int, at_once: Callable[[Tasks], bool] = lambda tasks: False
) -> Iterator[tuple[int, tuple[Tasks, ...]]]:
    """Every cut that comes to no more than `most` ns: what it comes to, and its parts in their order.

    The same parts come once: of those that need not wait for each other, the one with the first task comes first.
    No two parts could be one whose tasks may all run `at_once`.
    """
    left = {max(ways): 0}
    for at in sorted(ways, key=lambda tasks: -tasks.bit_count()):  # what the rest takes at least
        if ways[at]:
            left[at] = min(takes(beyond & ~at) + left[beyond] for beyond in ways[at])

    def extend(at: Tasks, time: int, parts: tuple[Tasks, ...]) -> Iterator[tuple[int, tuple[Tasks, ...]]]:
        if not ways[at]:
            yield time, parts
            return
        for beyond in ways[at]:
            more = time + takes(beyond & ~at)
            if more + left[beyond] <= most and not _could_come_sooner(ways, at, parts, beyond & ~at, at_once):
                yield from extend(beyond, more, (*parts, beyond & ~at))

    return extend(0, 0, ())


def _could_come_sooner(ways: After, at: Tasks, parts: Sequence[Tasks], part: Tasks, at_once: Callable[[Tasks], bool]) -> bool:
    """Could a part be one with one of these, up to `at`, or come before one that has no task as early as its first one?"""
    for other in reversed(parts):
        if at_once(other | part):
            return True
        at &= ~other
        if at | part not in ways:
            return False
        if other & -other > part & -part:
            return True
    return False
