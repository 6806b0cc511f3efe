"""Price of a design beside the plan."""

from __future__ import annotations

from ...models.findings.wording import plural
from ...models.planning.planned import CostedDesign, PlanningResult
from ...models.planning.problem import PlanningProblem
from ...models.planning.workload import SECONDS
from ...solver.wording import with_unit
from ..terminal import escape
from .words import design_in_words, over, seconds, total


def priced_in_words(planned: PlanningResult, priced: CostedDesign, question: PlanningProblem | None = None, counted: bool = False) -> str:
    """Format price and design: `83.78 seconds (13.7 % more): rollout on 32, ...`.

    `question` : planning problem of the design, if not the plan's. `counted` : True to add
    accelerators even if these are not the aim.
    """
    words = design_in_words(question or planned.question, planned, priced.design, planned.best.design, models=priced.models)
    count = priced.accelerators(question or planned.question)
    used = f"{count} {plural('accelerator', count)}, " if counted or planned.question.aim != SECONDS else ""
    return f"{used}{with_unit(seconds(total(priced)))} ({over(total(priced), total(planned.best))}): {escape(words)}"
