"""Policies between several plans of a problem: dividing degrees, estimated memory, nesting, pool sizes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.memory.bill import BlockBill
from ..models.placements.assignment import Assignment
from ..models.planning.cost_models import iteration, segment_times
from ..models.planning.option import NO_KIND
from ..models.planning.planned import Planned, Priced
from ..models.planning.problem import PlanningProblem
from ..models.problem import Problem
from ..solver.session import Session
from .check import price
from .costs import cost_model
from .dividing import as_planned
from .memory import bills, decides, none_fits, without_estimates
from .problem import asked
from .search.search import search
from .tied import not_all_known
from .unplaced import not_all_sizes


def preferring(problem: Problem, plan: Solve, limit: float, session: Session) -> Answer:
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
        its = _bills(problem, _Without(other.planned.best, other.planned.question, other.plan.assignment if other.plan else None))
        return replace(other, findings=(*other.findings, none_fits(problem, its)))
    better = session.unless_cancelled(partial(_better, open_, answer.planned, plan, limit, session), lambda: None)
    if better is None:
        return answer
    planned = replace(answer.planned, without_estimates=better.priced, without_question=better.question)
    finding = decides(problem, planned.question, planned.best, better.priced, _bills(problem, better))
    return replace(answer, planned=planned, findings=(*answer.findings, finding))


class _Without(NamedTuple):
    """What wins without estimates, of which question it is a design, and where it was placed, if it was."""

    priced: Priced
    question: PlanningProblem
    placed: Assignment | None = None


def _better(open_: Problem, planned: Planned, plan: Solve, limit: float, session: Session) -> _Without | None:
    """What wins without estimates, if that is better than what was planned.

    It is placed only where traffic counts as time, degrees follow others, or a component may be on several kinds of accelerators at once.
    """
    workload = open_.job.planning.workload
    if workload is None:
        return None
    if workload.bandwidth or planned.in_part or planned.question.scope.over_kinds:
        answer = plan(open_)
        other = answer.planned
        if other is None or answer.plan is None or other.price >= planned.price:
            return None
        return _Without(other.best, other.question, answer.plan.assignment)
    question, model = asked(as_planned(open_, planned), workload, planned.question.barred), cost_model(workload.model)
    found = search(question, model, limit, session=session).best
    if found is None or found.price >= price(planned.question, model, planned.compared):
        return None
    priced = Priced(found.design, iteration(model, question, found.design), tuple(segment_times(model, question, found.design)))
    return _Without(priced, question)


def _bills(problem: Problem, its: _Without) -> tuple[BlockBill, ...]:
    """For each set that is planned, what its components need."""
    return tuple(each for each in bills(problem, its.question, its.priced.design, its.placed) if each.block.kind != NO_KIND)


def unless_all_sizes_are_read(plan: Solve) -> Solve:
    """How a problem is planned, given how one is of whose pools every size is known."""

    def answer(problem: Problem) -> Answer:
        found, left = plan(problem), problem.job.planning.sizes_not_read
        if not left:
            return found
        if found.planned is not None:
            return replace(found, planned=not_all_known(found.planned))
        return not_all_sizes(left) if found.verdict == IMPOSSIBLE else found

    return answer
