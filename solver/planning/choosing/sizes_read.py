"""Where not every size of a pool was read: what is planned is the best of those that were, and nothing is proved of it."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.problem import Problem
from ..loop.told import not_all_sizes
from .told import not_all_known


def unless_all_sizes_are_read(plan: Solve) -> Solve:
    """How a problem is planned, given how one is of whose pools every size is known."""

    def answer(problem: Problem) -> Answer:
        found, left = plan(problem), problem.job.sizes_not_read
        if not left:
            return found
        if found.planned is not None:
            return replace(found, planned=not_all_known(found.planned))
        return not_all_sizes(left) if found.verdict == IMPOSSIBLE else found

    return answer
