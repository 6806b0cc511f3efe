"""A plan has each component on one kind of accelerators where something tells kinds apart: what several kinds at once could save."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..costs import cost_model
from ..searching.search import search
from ..searching.sizes.settling import Settle
from ..why.several_kinds import of_one_kind, on_several, undecided
from .over_nodes import may_have_groups


def over_kinds(plan: Solve, quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what is known of components on several kinds at once, given how one is planned where none is.

    Nothing is said where none of these plans can be better. Else it is told beside the plan what they take at least: they are not
    searched. What is impossible with each component on one kind is so altogether only where it is as if all kinds were one, which
    `quietly` plans. The other options are those of the search for counts (see searching/search.py).
    """

    def answer(problem: Problem) -> Answer:
        found, workload = plan(problem), problem.job.workload
        if workload is None or was_heard():
            return found
        if found.planned is not None:
            least = least_over_kinds(problem, workload, found.planned, limit, seed, settle, answer_interrupted)
            return found if least is None or was_heard() else replace(found, planned=replace(found.planned, over_kinds=least))
        question = asked(problem, workload) if found.verdict == IMPOSSIBLE else None
        alike = of_one_kind(problem, question) if question is not None and on_several(problem, question) else None
        if alike is None or quietly(_loose(alike, workload)).verdict == IMPOSSIBLE:
            return found
        return undecided(())

    return answer


def least_over_kinds(
    problem: Problem, workload: Workload, planned: Planned, limit: float, seed: int, settle: Settle | None = None,
    answer_interrupted: bool = False,
) -> int | None:  # fmt: skip
    """What no plan costs less than, with components on several kinds too: ns, or accelerators of all; None where none can be better.

    Where groups over nodes are not told of the plan, those of such plans may lie over nodes too.
    """
    alike = on_any_kinds(problem, planned.question)
    if alike is None:
        return None
    loose = _loose(alike, workload)
    question = asked(loose, loose.job.workload or workload)
    if planned.over_nodes is None and may_have_groups(loose, question):
        question = asked(loose, loose.job.workload or workload, over_nodes=True)
    bound = search(question, cost_model(planned.model), limit, seed, 1, (), settle, answer_interrupted).bound
    least = None if bound is None else bound + (0 if question.aim == SECONDS else question.held)
    return least if least is not None and least < planned.bound else None


def on_any_kinds(problem: Problem, question: Question) -> Problem | None:
    """The problem as if all kinds of accelerators were one; None where a component could be on several at once in no plan with a price.

    No time is known of any component on several kinds where all times name models, each of one kind.
    """
    kinds = [kind.model for kind in question.kinds]
    times = (problem[name].timed for name in on_several(problem, question))
    if not any(its is None or any(not time.model or kinds.count(time.model) > 1 for time in its.measured) for its in times):
        return None
    return of_one_kind(problem, question)


def _loose(problem: Problem, workload: Workload) -> Problem:
    """The problem without estimates, which are no demand."""
    return replace(problem, job=replace(problem.job, workload=replace(workload, heeds_estimates=False)))
