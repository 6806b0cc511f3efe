"""Where components may lie inside others, and not all such designs are placed: those without that are looked for too."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Sequence

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.findings.finding import Finding
from ....models.placements.plan import Plan
from ....models.planning.design import Design
from ....models.planning.planned import Planned
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard

Refused = Callable[[Plan, Design], Sequence[Finding]]


def nesting(plan: Solve, refused: Refused) -> Solve:
    """How a problem is planned, given how any is; what is proved of the answer holds for both sorts of designs.

    One that is `refused` is the answer only where one without others inside is refused too, or there is none.
    """

    def is_worse(found: Answer, flat: Planned, workload: Workload) -> bool:
        if found.planned is None or found.plan is None:
            return True
        out = any(refused(found.plan, found.planned.best.design))
        return out or _price(found.planned, workload) > _price(flat, workload)

    def answer(problem: Problem) -> Answer:
        found, workload = plan(problem), problem.job.workload
        if workload is None or not workload.nested or found.verdict == IMPOSSIBLE or (found.planned is not None and found.planned.proved):
            return found
        if was_heard():
            return found
        flat = plan(replace(problem, job=replace(problem.job, workload=replace(workload, nested=False))))
        if flat.planned is None or not is_worse(found, flat.planned, workload):
            return found
        bound = found.planned.bound if found.planned is not None else 0
        question = replace(flat.planned.question, nested=True, only_within=False)
        planned = replace(flat.planned, question=question, bound=min(bound, flat.planned.bound), proved=False)
        return replace(flat, planned=planned)

    return answer


def _price(planned: Planned, workload: Workload) -> int:
    best = planned.best
    return best.nanoseconds + best.traffic if workload.aim == SECONDS else best.accelerators(planned.question)
