"""Policies between plans of several variants of a problem: memory estimates, unread pool sizes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.memory.bill import BlockBill
from ..models.placements.assignment import Assignment
from ..models.planning.option import NO_KIND
from ..models.planning.planned import CostedDesign, PlanningResult
from ..models.planning.problem import PlanningProblem
from ..models.problem import Problem
from ..solver.session import Session
from .bills import bills, decides, none_fits
from .check import price
from .costs import cost_model, costed
from .dividing import as_planned
from .memory import without_estimates
from .problem import planning_problem
from .search.search import search
from .tied import not_all_known
from .unplaced import not_all_sizes


def within_estimates(problem: Problem, plan: Solve, limit: float, session: Session) -> Answer:
    """Return the best plan within all memory estimates; without one, the best regardless.

    Estimates are not demands: they never make a problem infeasible. A finding names the plan that
    would win without them.
    """
    open_ = without_estimates(problem)
    if open_ is None:
        return plan(problem)
    answer = plan(problem)
    if answer.planned is None:
        if answer.verdict != IMPOSSIBLE:
            return answer  # A plan within the estimates may still exist.
        relaxed = plan(open_)
        if relaxed.planned is None:
            return relaxed
        block_bills = _bills(
            problem, _Without(relaxed.planned.best, relaxed.planned.question, relaxed.plan.assignment if relaxed.plan else None)
        )
        return replace(relaxed, findings=(*relaxed.findings, none_fits(problem, block_bills)))
    better = session.unless_cancelled(partial(_better, open_, answer.planned, plan, limit, session), lambda: None)
    if better is None:
        return answer
    planned = replace(answer.planned, without_estimates=better.priced, without_question=better.question)
    finding = decides(problem, planned.question, planned.best, better.priced, _bills(problem, better))
    return replace(answer, planned=planned, findings=(*answer.findings, finding))


class _Without(NamedTuple):
    """Design, problem and placement (if placed) of the winner without estimates."""

    priced: CostedDesign
    question: PlanningProblem
    placed: Assignment | None = None


def _better(open_: Problem, planned: PlanningResult, plan: Solve, limit: float, session: Session) -> _Without | None:
    """Return the winner without estimates, if it is better than the plan."""
    workload = open_.job.planning.workload
    if workload is None:
        return None
    if workload.bandwidth or planned.in_part or planned.question.scope.over_kinds:
        answer = plan(open_)
        relaxed = answer.planned
        if relaxed is None or answer.plan is None or relaxed.price >= planned.price:
            return None
        return _Without(relaxed.best, relaxed.question, answer.plan.assignment)
    question, model = planning_problem(as_planned(open_, planned), workload, planned.question.barred), cost_model(workload.model)
    incumbent = search(question, model, limit, session=session).best
    if incumbent is None or incumbent.price >= price(planned.question, model, planned.compared):
        return None
    return _Without(costed(model, question, incumbent.design), question)


def _bills(problem: Problem, winner: _Without) -> tuple[BlockBill, ...]:
    """Return the memory bills of all planned blocks of accelerators."""
    return tuple(bill for bill in bills(problem, winner.question, winner.priced.design, winner.placed) if bill.block.kind != NO_KIND)


def unless_all_sizes_are_read(plan: Solve) -> Solve:
    """Wrap a planner for jobs whose pool sizes were not all read."""

    def answer(problem: Problem) -> Answer:
        answer_found, unread = plan(problem), problem.job.planning.sizes_not_read
        if not unread:
            return answer_found
        if answer_found.planned is not None:
            return replace(answer_found, planned=not_all_known(answer_found.planned))
        return not_all_sizes(unread) if answer_found.verdict == IMPOSSIBLE else answer_found

    return answer
