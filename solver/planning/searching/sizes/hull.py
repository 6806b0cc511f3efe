"""The lower convex hull of what accelerators bring."""

from __future__ import annotations

from typing import Sequence

Step = tuple[int, int, int]
"""Accelerators, a value and the place of a choice: the values fall as the accelerators rise."""


def hull(steps: Sequence[Step]) -> list[Step]:
    """The steps on the lower convex hull."""
    found: list[Step] = []
    for step in steps:
        while len(found) > 1 and _above(found[-2], found[-1], step):
            found.pop()
        found.append(step)
    return found


def _above(one: Step, middle: Step, other: Step) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])
