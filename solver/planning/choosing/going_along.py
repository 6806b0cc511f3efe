"""Where a component without times goes along with one that has some, and may not be wherever that one is: on some of its accelerators, or apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer
from ....models.component import COLOCATED, SUBSET, Component
from ....models.planning.planned import Planned
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.nested import led_inside
from ..asking.of_ties import each_choice

Plan = Callable[[Problem], Answer]


def going_along(plan: Plan) -> Plan:
    """How problems are planned, given how one is in which such a component is on all accelerators of the one that it goes along with.

    So it is planned where nothing takes less otherwise: what it takes itself nobody says, and on more accelerators it takes no longer.
    """

    def planned(problem: Problem) -> Answer:
        found = plan(problem)
        for other in (may_lie_inside(problem), may_be_apart(problem)):
            undecided = found.planned is None and found.verdict != IMPOSSIBLE
            if other is not None and not undecided and not was_heard():
                found = _better(plan, found, other)
        return found

    return planned


def _better(plan: Plan, found: Answer, problem: Problem) -> Answer:
    """The answer, or that of the problem where it may be otherwise, if an iteration takes less so; with what both prove."""
    other = plan(problem)
    if other.planned is None:
        return found if other.verdict == IMPOSSIBLE else other if found.planned is None else _unproved(found)
    if found.planned is None:
        return _not_all_compared(_on_more(plan, problem, other))
    better, worse = found, other.planned
    if other.planned.price[0] < found.planned.price[0]:
        better, worse = _on_more(plan, problem, other), found.planned
    return _not_all_compared(_proved_beside(better, worse))


def _proved_beside(found: Answer, other: Planned) -> Answer:
    """The answer with what is proved of both: the other plan, of which it is no part, may have a bound below it."""
    planned = found.planned
    if planned is None:
        return found
    bound = min(planned.bound, other.bound)
    return replace(found, planned=replace(planned, bound=bound, proved=planned.proved and bound == planned.price[0]))


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
    workload = problem.job.workload or Workload()
    every = [asked(each, workload).options for each in each_choice(problem)]

    def has_fewer(leader: str, follower: str) -> bool:
        counts = ({option.amount for option in options.get(follower, ())} for options in every)
        return any(option.amount not in its for options, its in zip(every, counts) for option in options.get(leader, ()))

    led = [each for each in going if has_fewer(*each.components)]
    if not led:
        return None
    relations = tuple(
        replace(each, kind=SUBSET, components=each.components[::-1]) if each in led else each for each in problem.job.relations
    )
    return replace(problem, job=replace(problem.job, relations=relations))


def may_be_apart(problem: Problem) -> Problem | None:
    """The problem in which those that need memory have accelerators of their own; None where none of them is known to need any."""

    def needs(component: Component) -> bool:
        return bool(component.memory or component.offloaded or component.estimate)

    going = [each for each in problem.related(COLOCATED) if each.proposed and needs(problem[each.components[-1]])]
    if not going:
        return None
    relations = tuple(each for each in problem.job.relations if each not in going)
    return replace(problem, job=replace(problem.job, relations=relations))


def _not_all_compared(found: Answer) -> Answer:
    """The answer, beside which others stand that were found in one of these ways alone."""
    if found.planned is None:
        return found
    further = tuple(replace(each, proved=False) for each in found.planned.further)
    return replace(found, planned=replace(found.planned, further=further, others_open=True))


def _unproved(found: Answer) -> Answer:
    """A plan beside which nobody knows what the others take."""
    return found if found.planned is None else replace(found, planned=replace(found.planned, bound=0, proved=False))
