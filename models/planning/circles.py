"""Who waits for each other in a circle."""

from __future__ import annotations

from typing import Hashable, Mapping, Sequence, TypeVar

Each = TypeVar("Each", bound=Hashable)


def circles(following: Mapping[Each, Sequence[Each]]) -> dict[Each, int]:
    """Each task with a number that those have in common that can be reached from each other (Kosaraju and Sharir)."""
    before: dict[Each, list[Each]] = {task: [] for task in following}
    for task, its in following.items():
        for other in its:
            before[other].append(task)
    seen, left = set[Each](), set[Each]()
    done = [each for task in following for each in _reached(task, following, seen)]
    return {each: number for number, task in enumerate(reversed(done)) for each in _reached(task, before, left)}


def _reached(start: Each, following: Mapping[Each, Sequence[Each]], seen: set[Each]) -> list[Each]:
    """What is reached from there and was not seen before, each after all that is reached from it."""
    found, way = list[Each](), [] if start in seen else [(start, iter(following[start]))]
    seen.add(start)
    while way:
        task, rest = way[-1]
        other = next((each for each in rest if each not in seen), None)
        if other is None:
            found.append(task)
            way.pop()
        else:
            seen.add(other)
            way.append((other, iter(following[other])))
    return found
