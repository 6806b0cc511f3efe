"""How any problem is answered: what has times is planned first, everything else is placed as it is."""

from __future__ import annotations

from typing import Callable

from ...models.answer import Answer
from ...models.problem import Problem

Solve = Callable[[Problem], Answer]


def answering(place: Solve, limit: float, seed: int) -> Solve:
    """How problems are answered, given how they are placed; the options are those of the search for counts."""

    def answer(problem: Problem) -> Answer:
        workload = problem.job.workload
        if workload is None:
            return place(problem)
        from .memory.preferring import preferring
        from .plan import plan

        return preferring(problem, lambda asked: plan(asked, workload, place, limit, seed), limit, seed)

    return answer
