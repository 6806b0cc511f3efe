"""Where components may lie inside others, and not all such designs are placed: those without that are looked for too."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ...models.answer import IMPOSSIBLE, Answer
from ...models.planning.planned import Planned
from ...models.planning.workload import SECONDS, Workload
from ...models.problem import Problem
from ..sandbox.interrupts import was_heard

Solve = Callable[[Problem], Answer]


def nesting(plan: Solve) -> Solve:
    """How a problem is planned, given how any is; what is proved of the answer holds for both sorts of designs."""

    def answer(problem: Problem) -> Answer:
        found, workload = plan(problem), problem.job.workload
        if workload is None or not workload.nested or found.verdict == IMPOSSIBLE or (found.planned is not None and found.planned.proved):
            return found
        if was_heard():
            return found
        flat = plan(replace(problem, job=replace(problem.job, workload=replace(workload, nested=False))))
        if flat.planned is None or (found.planned is not None and _price(found.planned, workload) <= _price(flat.planned, workload)):
            return found
        bound = found.planned.bound if found.planned is not None else 0
        question = replace(flat.planned.question, nested=True)
        planned = replace(flat.planned, question=question, bound=min(bound, flat.planned.bound), proved=False)
        return replace(flat, planned=planned)

    return answer


def _price(planned: Planned, workload: Workload) -> int:
    best = planned.best
    return best.nanoseconds + best.traffic if workload.aim == SECONDS else best.design.held(planned.question)
