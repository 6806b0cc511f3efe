"""Unless a plan says `nested`, who shares accelerators shares them all: what a plan with some of another's could save."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.answer import Answer
from ....models.planning.planned import Nested, Planned
from ....models.planning.workload import RLINF, RLINF_EMBODIED, SECONDS
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..costs import cost_model
from ..search import search
from ..sizes.settling import Settle

Solve = Callable[[Problem], Answer]

SHARE = 0.1
"""Of the time of a search: so much is looked for plans that nobody asked for."""


def inside(plan: Solve, quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what is known of plans in which a component uses only some of another's accelerators.

    Nothing is said where none of these can be better, nor where the file says itself whether they may be, or cannot. Else the best is
    told beside the plan. `quietly` plans a problem and tells nothing meanwhile; the other options are those of the search for counts
    (see search.py).
    """

    def answer(problem: Problem) -> Answer:
        found, nested = plan(problem), may_nest(problem)
        if found.planned is None or nested is None or found.planned.question.nested or was_heard():
            return found
        planned = found.planned
        seen = least_inside(nested, planned, limit, seed, settle, answer_interrupted)
        if seen is None or was_heard():
            return found
        least, is_known = seen
        if not is_known:
            return replace(found, planned=replace(planned, nested=Nested(least)))
        other = quietly(_better(nested, planned))
        bound = least if other.planned is None else max(least, other.planned.bound)
        if other.planned is None or other.plan is None or other.planned.price[0] >= planned.price[0]:
            told = Nested(bound)
        else:
            told = Nested(bound, other.planned.best)
        return found if told.bound >= planned.price[0] else replace(found, planned=replace(planned, nested=told))

    return answer


def may_nest(problem: Problem) -> Problem | None:
    """The problem with `nested: true`; None where its file says that already, or what its framework takes is no matter of that."""
    job, workload = problem.job, problem.job.workload
    if workload is None or workload.nested or "nested" in workload.spans or workload.model in (RLINF, RLINF_EMBODIED):
        return None
    if job.ways or job.laying is not None or job.overlaps or job.capabilities.shares_accelerators:
        return None
    return replace(problem, job=replace(job, workload=replace(workload, nested=True)))


def least_inside(
    nested: Problem, planned: Planned, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False
) -> tuple[int, bool] | None:
    """What no plan of the nested problem costs less than, ns or accelerators of all, and whether a better one is known before it is placed.

    None where none can be better.
    """
    workload = _better(nested, planned).job.workload
    if workload is None:
        return None
    question = asked(nested, workload)
    searched = search(question, cost_model(planned.model), limit * SHARE, seed, 1, (), settle, answer_interrupted)
    if searched.bound is None:
        return None
    held = 0 if question.aim == SECONDS else question.held
    least, is_known = searched.bound + held, searched.best is not None and searched.best.price[0] + held < planned.price[0]
    return (least, is_known) if least < planned.price[0] else None


def _better(nested: Problem, planned: Planned) -> Problem:
    """The nested problem, of which only what costs less than the plan is an answer: so a search need not find the plan once more."""
    workload, cost = nested.job.workload, planned.price[0] - 1
    if workload is None:
        return nested
    budget = workload.budget
    if workload.aim == SECONDS:
        budget = replace(budget, nanoseconds=cost)
    else:
        budget = replace(budget, accelerators=cost)
    return replace(nested, job=replace(nested.job, workload=replace(workload, budget=budget)))
