"""Where a component without times goes along with one that has some, and is on fewer counts than that one: it may use only some of its accelerators."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer
from ....models.component import COLOCATED, SUBSET
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.nested import led_inside

Plan = Callable[[Problem], Answer]


def going_along(plan: Plan) -> Plan:
    """How problems are planned, given how one is in which such a component is on all accelerators of the one that it goes along with.

    So it is planned where nothing takes less otherwise: what it takes itself nobody says, and on more accelerators it takes no longer.
    """

    def planned(problem: Problem) -> Answer:
        found, inside = plan(problem), may_lie_inside(problem)
        if inside is None or was_heard() or (found.planned is None and found.verdict != IMPOSSIBLE):
            return found
        other = plan(inside)
        if other.planned is None:
            return found if other.verdict == IMPOSSIBLE else _unproved(found)
        if found.planned is None or other.planned.price[0] < found.planned.price[0]:
            return _not_all_compared(_on_more(plan, inside, other))
        bound = min(found.planned.bound, other.planned.bound)
        return _not_all_compared(replace(found, planned=replace(found.planned, bound=bound, proved=bound == found.planned.price[0])))

    return planned


def _on_more(plan: Plan, problem: Problem, found: Answer) -> Answer:
    """The plan with what goes along on as many accelerators as it can be there, where an iteration takes no longer so."""
    if found.planned is None or was_heard():
        return found
    its, most = found.planned.best.design.options, dict[str, int]()
    for inner, outer in led_inside(problem):
        counts = [each.amount for each in found.planned.question.options[inner] if each.amount <= its[outer].amount]
        most |= {inner: max(counts)} if max(counts, default=0) > its[inner].amount else {}
    if not most:
        return found
    components = tuple(each.between(most[each.name], each.most) if each.name in most else each for each in problem.components)
    more = plan(replace(problem, job=replace(problem.job, components=components)))
    if more.planned is None or more.planned.price[0] > found.planned.price[0]:
        return found
    question = found.planned.question  # what was asked: that it is on no fewer is no demand
    known = all(option in question.options[name] for name, option in more.planned.best.design.options.items())
    further = found.planned.further  # on fewer accelerators it may be on fewer too
    planned = replace(more.planned, bound=found.planned.bound, proved=found.planned.proved, further=further)
    return replace(more, planned=replace(planned, question=question) if known else planned)


def may_lie_inside(problem: Problem) -> Problem | None:
    """The problem in which it may; None where it can be on as many accelerators as what it goes along with, whatever that has."""
    going = [each for each in problem.related(COLOCATED) if each.proposed]
    if not going:
        return None
    options = asked(problem, problem.job.workload or Workload()).options

    def has_fewer(leader: str, follower: str) -> bool:
        counts = {option.amount for option in options.get(follower, ())}
        return any(option.amount not in counts for option in options.get(leader, ()))

    led = [each for each in going if has_fewer(*each.components)]
    if not led:
        return None
    relations = tuple(
        replace(each, kind=SUBSET, components=each.components[::-1]) if each in led else each for each in problem.job.relations
    )
    return replace(problem, job=replace(problem.job, relations=relations))


def _not_all_compared(found: Answer) -> Answer:
    """The answer, beside which others stand that were found in one of both ways alone."""
    if found.planned is None:
        return found
    further = tuple(replace(each, proved=False) for each in found.planned.further)
    return replace(found, planned=replace(found.planned, further=further, others_open=True))


def _unproved(found: Answer) -> Answer:
    """A plan beside which nobody knows what the others take."""
    return found if found.planned is None else replace(found, planned=replace(found.planned, bound=0, proved=False))
