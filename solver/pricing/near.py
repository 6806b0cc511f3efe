"""A question after something has happened: nodes are gone, and a plan runs that is to move as little as possible."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.finding import UnusableInput
from ...models.placements.plan import Plan
from ...models.problem import Problem
from ..replanning.replan import after
from .machines import without_named


def near(problem: Problem, before: Plan | None, lost: Sequence[str] = ()) -> Problem:
    """The question without the nodes of these names or ranks, to be answered near the plan that runs now, if one does.

    Raises UnusableInput for nodes that are none, or that hold what is given.
    """
    if lost:
        left = without_named(problem, lost)
        if isinstance(left, tuple):
            raise UnusableInput(left)
        problem = left
    return problem if before is None else after(problem, before)
