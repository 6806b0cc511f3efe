"""Plans that fit by the estimates of their memory, where there are such; and what would win without the estimates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer
from ....models.planning.planned import Planned, Priced
from ....models.problem import Problem
from ...sandbox.interrupts import unless_heard
from ..asking.asked import asked
from ..asking.even import as_planned
from ..check import price
from ..costs import cost_model
from ..costs.cost_model import iteration, segment_times
from ..memory.bill import bill
from ..memory.told import decides, none_fits
from ..memory.without import without_estimates
from ..searching.search import search

Plan = Callable[[Problem], Answer]


def preferring(problem: Problem, plan: Plan, limit: float, seed: int) -> Answer:
    """The best plan that fits by every estimate, with what would win without them; where none fits, the best without them.

    An estimate is no demand: alone it makes nothing impossible, and it never decides without a word.
    """
    open_ = without_estimates(problem)
    if open_ is None:
        return plan(problem)
    answer = plan(problem)
    if answer.planned is None:
        if answer.verdict != IMPOSSIBLE:
            return answer  # something that fits may still be there
        other = plan(open_)
        if other.planned is None:
            return other
        bills = bill(problem, other.planned.question, other.planned.best.design)
        return replace(other, findings=(*other.findings, none_fits(problem, bills)))
    better = unless_heard(partial(_better, open_, answer.planned, plan, limit, seed), lambda: None)
    if better is None:
        return answer
    planned = replace(answer.planned, without_estimates=better)
    finding = decides(problem, planned.best, better, bill(problem, planned.question, better.design))
    return replace(answer, planned=planned, findings=(*answer.findings, finding))


def _better(open_: Problem, planned: Planned, plan: Plan, limit: float, seed: int) -> Priced | None:
    """What wins without estimates, if that is better than what was planned. It is placed only where traffic counts as time, or degrees follow others."""
    workload = open_.job.workload
    if workload is None:
        return None
    if workload.bandwidth or planned.in_part:
        other = plan(open_).planned
        return other.best if other is not None and other.price < planned.price else None
    question, model = asked(as_planned(open_, planned), workload, planned.question.barred), cost_model(workload.model)
    found = search(question, model, limit, seed).best
    if found is None or found.price >= price(planned.question, model, planned.compared):
        return None
    return Priced(found.design, iteration(model, question, found.design), tuple(segment_times(model, question, found.design)))
