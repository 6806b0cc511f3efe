"""Unless a plan says `nested`, who shares accelerators shares them all: what a plan with some of another's could save."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import Nested, Planned
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.nested import with_nesting
from ..costs import cost_model
from ..searching.search import search
from ..searching.sizes.settling import Settle
from .choices_of_models import MOST_LOOKED_AT, least_on_models
from .over_kinds import on_any_kinds
from .over_nodes import may_have_groups, with_groups_over_nodes, without_groups
from .spanning import as_it_spans, may_span

SHARE = 0.1
"""Of the time of a search: so much is looked for plans that nobody asked for."""


def inside(plan: Solve, quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what is known of plans in which a component uses only some of another's accelerators.

    Nothing is said where none of these can be better, nor where the file says itself whether they may be, or cannot. Else the best is
    told beside the plan, or what all of them take at least, those among them that besides have groups over nodes or components on several
    kinds. Beside a plan that is hurried it is that bound alone. `quietly` plans a problem, with groups over nodes where it lets them, and tells nothing meanwhile; the other options are those of
    the search for counts (see searching/search.py).
    """

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        nested = None if found.planned is None else with_nesting(as_it_spans(problem, found.planned.question))
        if found.planned is None or nested is None or found.planned.question.nested or was_heard():
            return found
        planned = found.planned
        if planned.hurried:
            if planned.question.on_models:
                least = least_inside_on_models(problem, planned, 0.0, seed, settle, answer_interrupted)
            else:
                least = bound_inside(nested, planned, 0.0, seed, settle, answer_interrupted)
            told = None if least is None else Nested(least)
            return found if told is None or was_heard() else replace(found, planned=replace(planned, nested=told))
        if planned.question.on_models:
            least = least_inside_on_models(problem, planned, limit, seed, settle, answer_interrupted)
            told = None if least is None else _told_of_models(nested, planned, least, quietly)
            return found if told is None or was_heard() else replace(found, planned=replace(planned, nested=told))
        seen = least_inside(nested, planned, limit, seed, settle, answer_interrupted)
        told = None if seen is None else Nested(seen[0]) if not seen[1] else _told(planned, seen[0], quietly(_better(nested, planned)))
        if told is None or told.bound >= planned.price[0]:
            both = least_of_both(nested, planned, limit, seed, settle, answer_interrupted, seen is None)
            told = None if both is None else _told_of_both(nested, planned, both, quietly)
        if told is None or told.bound >= planned.price[0] or was_heard():
            return found
        return replace(found, planned=replace(planned, nested=told))

    return answer


def _told(planned: Planned, least: int, other: Answer) -> Nested:
    """What is told of plans that cost `least` at least, the best of which the other answer is."""
    if other.verdict == IMPOSSIBLE:
        return Nested(planned.price[0])
    if other.planned is None:
        return Nested(least)
    bound = max(least, other.planned.bound)
    return Nested(bound) if other.plan is None or other.planned.price[0] >= planned.price[0] else Nested(bound, other.planned.best)


def _told_of_models(nested: Problem, planned: Planned, least: int, quietly: Solve) -> Nested:
    """What is told where nested plans on any models cost `least` at least, and the plan has components on chosen ones: on these they are planned."""
    other = quietly(_better(nested, planned)).planned
    return Nested(least, other.best if other is not None and other.price[0] < planned.price[0] else None)


def _told_of_both(nested: Problem, planned: Planned, least: int, quietly: Solve) -> Nested:
    """What is told where nested plans are no better, and those among them might be that differ in something else too.

    Only those with groups over nodes are placed, whose processes lie on one node each: others are not searched.
    """
    if nested.job.capabilities.processes_may_cross or (planned.over_kinds is None and on_any_kinds(nested, planned.question) is not None):
        return Nested(least)
    return Nested(_told(planned, least, quietly(with_groups_over_nodes(_better(nested, planned)))).bound)


def bound_inside(
    nested: Problem, planned: Planned, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False
) -> int | None:
    """What no plan costs less than that is nested, whatever else it differs in that is not told; None where none can be better."""
    seen = least_inside(nested, planned, limit, seed, settle, answer_interrupted)
    return seen[0] if seen is not None else least_of_both(nested, planned, limit, seed, settle, answer_interrupted)


def least_inside_on_models(
    problem: Problem, planned: Planned, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False
) -> int | None:
    """The same of a problem that is not nested, with components on any of their models."""

    def least(chosen: Problem) -> int | None:
        nested = with_nesting(chosen)
        return None if nested is None else bound_inside(nested, planned, limit, seed, settle, answer_interrupted)

    return least_on_models(problem, least)


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


def least_of_both(
    nested: Problem, planned: Planned, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False,
    by_counts: bool = True,
) -> int | None:  # fmt: skip
    """What no plan costs less than that is nested, and besides has groups over nodes or components on several kinds; None where none can be better.

    It is a bound of all nested plans. What is told of the plan anyway is not looked for. `by_counts`: the counts and degrees of nested
    plans alone show that none is better, wherever they are placed.
    """
    workload = _better(nested, planned).job.workload
    alike = on_any_kinds(nested, planned.question) if planned.over_kinds is None else None
    over_nodes = planned.over_nodes is None and may_have_groups(alike or nested, planned.question)
    if workload is None or not (over_nodes or alike):
        return None
    wider = asked(alike or nested, replace(workload, heeds_estimates=workload.heeds_estimates and alike is None), over_nodes=over_nodes)
    if by_counts and not workload.bandwidth and without_groups(wider) == without_groups(asked(nested, workload)):
        return None
    searched = search(wider, cost_model(planned.model), limit * SHARE, seed, 1, (), settle, answer_interrupted)
    if searched.bound is None:
        return None
    least = searched.bound + (0 if wider.aim == SECONDS else wider.held)
    if least >= planned.price[0]:
        return None
    if alike is None or not may_span(nested, planned.question) or searched.spent > limit * SHARE / MOST_LOOKED_AT:
        return least

    def bound(chosen: Problem) -> int | None:
        question = asked(chosen, chosen.job.workload or workload, over_nodes=over_nodes)
        found = search(question, cost_model(planned.model), limit * SHARE, seed, 1, (), settle, answer_interrupted).bound
        return None if found is None else found + (0 if question.aim == SECONDS else question.held)

    return least_on_models(_better(nested, planned), bound)


def _better(nested: Problem, planned: Planned) -> Problem:
    """The nested problem, of which only what costs less than the plan is an answer: so a search need not find the plan once more."""
    return under(nested, planned.price[0])


def under(problem: Problem, cost: int) -> Problem:
    """The problem, of which only what costs less than this is an answer: ns, or accelerators of all components."""
    workload = problem.job.workload
    if workload is None:
        return problem
    budget = workload.budget
    if workload.aim == SECONDS:
        budget = replace(budget, nanoseconds=cost - 1)
    else:
        budget = replace(budget, accelerators=cost - 1)
    return replace(problem, job=replace(problem.job, workload=replace(workload, budget=budget)))
