"""A plan is told what plans of one other sort come to: what those take at least that are of several such sorts at once."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Answer, Solve
from ....models.planning.planned import AtOnce, Planned
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..asking.nested import with_nesting
from ..costs import cost_model
from ..searching.search import search
from ..searching.sizes.settling import Settle
from .inside import SHARE, under
from .over_kinds import on_any_kinds
from .over_nodes import may_have_groups
from .spanning import as_any_span


def at_once(plan: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what plans take at least that differ in several ways from those that the proof is of.

    Said where that is less than what is told of each way alone; where nothing is told of any, there is none of these that is better.
    The options are those of the search for counts (see searching/search.py).
    """

    def answer(problem: Problem) -> Answer:
        found = plan(problem)
        if found.planned is None or was_heard():
            return found
        seen = least_at_once(problem, found.planned, limit, seed, settle, answer_interrupted)
        return found if seen is None or was_heard() else replace(found, planned=replace(found.planned, at_once=seen))

    return answer


def least_at_once(
    problem: Problem, planned: Planned, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False
) -> AtOnce | None:
    """What no plan costs less than whatever it differs in; None where that is no less than what is told, or nothing is."""
    problem = as_any_span(problem, planned.question)
    told, nested = _told(planned), None if planned.question.nested else with_nesting(problem)
    alike = on_any_kinds(nested or problem, planned.question)
    wide = alike or nested or problem
    over_nodes = may_have_groups(wide, planned.question)
    if not told or (nested is not None) + (alike is not None) + over_nodes < 2:
        return None
    wide = under(wide, min(told))
    workload = wide.job.workload or Workload()
    question = asked(wide, replace(workload, heeds_estimates=workload.heeds_estimates and alike is None), over_nodes=over_nodes)
    bound = search(question, cost_model(planned.model), limit * SHARE, seed, 1, (), settle, answer_interrupted).bound
    least = None if bound is None else bound + (0 if question.aim == SECONDS else question.held)
    return AtOnce(least, over_nodes, alike is not None, nested is not None) if least is not None and least < min(told) else None


def _told(planned: Planned) -> list[int]:
    """The bounds that stand beside the plan."""
    its = planned.over_nodes, planned.nested
    return [each.bound for each in its if each is not None] + ([] if planned.over_kinds is None else [planned.over_kinds])
