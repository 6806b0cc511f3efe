"""Where something tells kinds of accelerators apart, a plan has each component on one; those with several at once are planned beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.answer import IMPOSSIBLE, Answer, Solve
from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..costs import cost_model
from ..loop.told import nothing, with_help
from ..searching.price import Price
from ..searching.search import search
from ..searching.sizes.settling import Settle
from ..why.eased import Tried, both, eased, nested
from ..why.eased import over_nodes as groups_over_nodes
from ..why.none import why_none
from ..why.several_kinds import of_one_kind, on_several, undecided
from .bounded_choice import least_price
from .choices_of_models import how_many
from .choosing_models import Choosing
from .merging import merged
from .over_nodes import may_have_groups
from .spanning import may_span, own_models

SHARE = 0.3
"""Of the time of a search: so much is looked for plans on several kinds at least, whatever the plan with each component on one took."""
TRIED = 0.05
"""The same of what is tried where nothing is possible."""


def over_kinds(
    plan: Callable[[float], Solve], quietly: Solve, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool,
    tells: bool = True,
) -> Solve:  # fmt: skip
    """How a problem is planned, with what is known of components on several kinds at once, given how one is planned where none is.

    Nothing is said where none of these plans can be better. Else they are planned too, and the best of all is the answer; where that is not
    known to be the best, or not all is known of some of them, it is told beside the plan what they take at least. What is impossible with
    each component on one kind is so altogether only where it is as if all kinds were one, which `quietly` plans, or with each choice of
    models. `plan` plans in so many deterministic seconds; the other options are those of the search for counts (see searching/search.py).
    Unless it `tells`, nothing is looked for of groups over nodes, nor of what helps where nothing is possible.
    """

    def choosing(problem: Problem, workload: Workload, model: str, spent: float, over_nodes: bool) -> Choosing:
        left = max(limit - spent, SHARE * limit)
        return Choosing(problem, workload, cost_model(model), plan, left, seed, settle, answer_interrupted, over_nodes)

    def tried(problem: Problem, workload: Workload) -> tuple[int, int] | None:
        changed = replace(problem, job=replace(problem.job, workload=workload))
        every = Choosing(
            changed, workload, cost_model(workload.model), lambda _: quietly, TRIED * limit, seed, settle, answer_interrupted, False
        )
        every.look(None)
        if (planned := every.best) is None:
            return None
        return planned.best.nanoseconds + planned.best.traffic, planned.best.accelerators(planned.question)

    def answer(problem: Problem) -> Answer:
        found, workload = plan(limit)(problem), problem.job.workload
        if workload is None or was_heard():
            return found
        planned = found.planned
        if planned is not None:
            relaxed = _relaxed(problem, workload, planned, limit, seed, settle, answer_interrupted, tells)
            if relaxed is None:
                return found
            planned = replace(planned, others_open=True)  # an arrangement that is not the best is not planned on several kinds
            found = replace(found, planned=planned)
            if was_heard() or not _may_be_better(problem, planned, relaxed):
                return found
            if not may_span(problem, planned.question):
                return _told(found, planned, relaxed)
            every = choosing(problem, workload, planned.model, planned.spent, tells and _groups(problem, planned.question))
            every.look(planned.price)
            return merged(problem, found, every, relaxed[0])
        question = asked(problem, workload)
        if may_span(problem, question):
            every = choosing(problem, workload, workload.model, 0.0, tells and _groups(problem, question))
            every.look(None)
            return _possible(problem, question, found, every, tried if tells else None, seed)
        alike = of_one_kind(problem, question) if found.verdict == IMPOSSIBLE and on_several(problem, question) else None
        if alike is None or quietly(_loose(alike, workload)).verdict == IMPOSSIBLE:
            return found
        return undecided(())

    return answer


def _may_be_better(problem: Problem, planned: Planned, least: Price) -> bool:
    """May plans that cost `least` at least be better than the plan, or be the file's own placement and as good?

    An own placement on several kinds may itself be what leaves a plan open, with each component on one, that all else proves to be the best.
    """
    if any(len(its) > 1 for its in own_models(problem).values()):
        return least <= planned.price
    return least < (planned.price if planned.proved else (planned.bound, 0))


def _told(found: Answer, planned: Planned, least: Price) -> Answer:
    """The answer with what plans that are not searched cost at least."""
    if least[0] < planned.bound:
        return replace(found, planned=replace(planned, over_kinds=least[0]))
    return replace(found, planned=replace(planned, ties_open=planned.ties_open or (planned.proved and least < planned.price)))


def _possible(problem: Problem, question: Question, found: Answer, every: Choosing, tried: Tried | None, seed: int) -> Answer:
    """What is answered where nothing was found with each component on one kind, and the choices may have them on several.

    By `tried` it is known which changes help; None: that is not asked.
    """
    if every.best is not None:
        return merged(problem, found, every, 0)
    if not every.is_impossible:
        return found if found.verdict != IMPOSSIBLE else undecided((), searched=True)
    if tried is None:
        return found if found.verdict == IMPOSSIBLE else nothing(True, ())
    if found.verdict == IMPOSSIBLE:
        if (searched := search(question, every.model, every.limit, seed)).best is None and searched.proved:
            told = why_none(problem, every.workload, question, every.model, seed, tried)
            return told if told.verdict == IMPOSSIBLE else found
        change = nested(problem, tried) or groups_over_nodes(problem, tried) or both(problem, tried)
        return with_help(found, [change.help] if change is not None and change.help not in found.findings[0].help else [])
    if len(every.answers) == 1 and how_many(problem) == 1:  # of several choices it says only why one of them is impossible
        return every.answers[0]
    return with_help(nothing(True, ()), eased(problem, every.workload, tried))


def _relaxed(
    problem: Problem, workload: Workload, planned: Planned, limit: float, seed: int, settle: Settle | None, answer_interrupted: bool,
    tells: bool = True,
) -> Price | None:  # fmt: skip
    """What no plan costs less than with components on several kinds too, and what comes second; None where there are no such plans.

    Where groups over nodes are not told of the plan, those of such plans may lie over nodes too, unless nobody `tells` what these come to:
    then nothing is known of what comes second.
    """
    alike = on_any_kinds(problem, planned.question)
    if alike is None:
        return None
    loose = _loose(alike, workload)
    question = asked(loose, loose.job.workload or workload)
    over_nodes = tells and planned.over_nodes is None and may_have_groups(loose, question)
    if over_nodes:
        question = asked(loose, loose.job.workload or workload, over_nodes=True)
    searched = search(question, cost_model(planned.model), limit, seed, 1, (), settle, answer_interrupted)
    return least_price(question, searched.bound, searched.best.price if searched.best and searched.first_proved else None)


def least_over_kinds(
    problem: Problem, workload: Workload, planned: Planned, limit: float, seed: int, settle: Settle | None = None,
    answer_interrupted: bool = False,
) -> int | None:  # fmt: skip
    """What no plan costs less than, with components on several kinds too: ns, or accelerators of all; None where none can be better."""
    least = _relaxed(problem, workload, planned, limit, seed, settle, answer_interrupted)
    return least[0] if least is not None and least[0] < planned.bound else None


def _groups(problem: Problem, question: Question) -> bool:
    """Are there groups that may lie over nodes in plans on several kinds?"""
    alike = of_one_kind(problem, question)
    return alike is not None and may_have_groups(alike, asked(alike, alike.job.workload or Workload()))


def on_any_kinds(problem: Problem, question: Question) -> Problem | None:
    """The problem as if all kinds of accelerators were one; None where a component could be on several at once in no plan with a price.

    No time is known of a component on several kinds where all its times are of one model, which is that of one kind.
    """
    kinds = [kind.model for kind in question.kinds]

    def may(name: str) -> bool:
        timed = problem[name].timed
        its = None if timed is None else {time.model for time in timed.measured}
        return its is None or "" in its or sum(kinds.count(model) for model in its) > 1

    return of_one_kind(problem, question) if any(map(may, on_several(problem, question))) else None


def bound_over_nodes(
    problem: Problem, limit: float, seed: int, settle: Settle | None = None, answer_interrupted: bool = False
) -> int | None:
    """What no plan on any kinds costs less than in which groups, and processes where the framework lets them, lie over nodes.

    In ns, or accelerators of all; None where there is none, 0 where nothing is known.
    """
    workload = problem.job.workload or Workload()
    loose = _loose(on_any_kinds(problem, asked(problem, workload)) or problem, workload)
    question = asked(loose, loose.job.workload or workload, over_nodes=True)
    searched = search(question, cost_model(workload.model), limit, seed, 1, (), settle, answer_interrupted)
    if searched.best is None and searched.proved:
        return None
    return 0 if searched.bound is None else searched.bound + (0 if question.aim == SECONDS else question.held)


def may_have_groups_on_any(problem: Problem, question: Question) -> bool:
    """Are there groups that may lie over nodes in plans on any kinds of accelerators, of which a component may be on several at once?"""
    wide = on_any_kinds(problem, question) or problem
    return may_have_groups(wide, asked(wide, wide.job.workload or Workload()))


def _loose(problem: Problem, workload: Workload) -> Problem:
    """The problem without estimates, which are no demand."""
    return replace(problem, job=replace(problem.job, workload=replace(workload, heeds_estimates=False)))
