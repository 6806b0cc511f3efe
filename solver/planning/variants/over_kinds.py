"""Where something tells kinds of accelerators apart, a plan has each component on one; those with several at once are planned beside it."""

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
from .spanning import spanning


def over_kinds(plan: Solve, quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool) -> Solve:
    """How a problem is planned, with what is known of components on several kinds at once, given how one is planned where none is.

    Nothing is said where none of these plans can be better. Else they are planned too, and the best of all is the answer; where that is not
    known to be the best, or no time is known of some of them, it is told beside the plan what they take at least. What is impossible with
    each component on one kind is so altogether only where it is as if all kinds were one, which `quietly` plans. The other options are
    those of the search for counts (see searching/search.py).
    """

    def answer(problem: Problem) -> Answer:
        found, workload = plan(problem), problem.job.workload
        if workload is None or was_heard():
            return found
        if found.planned is not None:
            least = least_over_kinds(problem, workload, found.planned, limit, seed, settle, answer_interrupted)
            if least is None or was_heard():
                return found
            every = spanning(problem, found.planned.question)
            return _better(found, found.planned, least, plan(every) if every is not None else None)
        question = asked(problem, workload)
        if every := spanning(problem, question):
            return _possible(found, plan(every))
        alike = of_one_kind(problem, question) if found.verdict == IMPOSSIBLE and on_several(problem, question) else None
        if alike is None or quietly(_loose(alike, workload)).verdict == IMPOSSIBLE:
            return found
        return undecided(())

    return answer


def _better(found: Answer, planned: Planned, least: int, other: Answer | None) -> Answer:
    """The better of two answers, the other of which may have components on several kinds; both cost `least` at least.

    What is proved of the other is proved of all plans on any kinds, but for groups over nodes.
    """
    its = other.planned if other is not None else None
    if other is None or its is None or was_heard():
        return replace(found, planned=replace(planned, over_kinds=least))
    if its.price[0] < planned.price[0]:
        return other
    bound = min([its.bound, *([its.over_nodes.bound] if its.over_nodes is not None else [])])
    return found if bound >= planned.price[0] else replace(found, planned=replace(planned, over_kinds=max(bound, least)))


def _possible(found: Answer, other: Answer) -> Answer:
    """What is answered where nothing was found with each component on one kind, and the other answer may have them on several."""
    if other.planned is not None or (other.verdict == IMPOSSIBLE and found.verdict != IMPOSSIBLE):
        return other
    return found if found.verdict != IMPOSSIBLE or other.verdict == IMPOSSIBLE else undecided(())


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
