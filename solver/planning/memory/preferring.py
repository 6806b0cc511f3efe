"""Plans that fit by the estimates of their memory, where there are such; and what would win without the estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable

from ....models.answer import Answer
from ....models.planning.design import Design
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question
from ....models.problem import Problem
from ..asked import asked
from ..check import price
from ..costs import cost_model
from ..costs.cost_model import iteration, segment_times
from ..search import search
from .bill import bill
from .told import decides, none_fits

Plan = Callable[[Problem], Answer]


def preferring(problem: Problem, plan: Plan, limit: float, seed: int) -> Answer:
    """The best plan that fits by every estimate, with what would win without them; where none fits, the best without them.

    An estimate is no demand: alone it makes nothing impossible, and it never decides without a word.
    """
    open_ = without_estimates(problem)
    if open_ is None:
        return plan(problem)
    answer = plan(problem)
    if answer.plan is None or answer.planned is None:
        other = plan(open_)
        if other.planned is None:
            return other
        bills = bill(problem, other.planned.question, other.planned.best.design)
        return replace(other, findings=(*other.findings, none_fits(problem, bills)))
    better = _better(open_, answer.planned, limit, seed)
    if better is None:
        return answer
    planned = replace(answer.planned, without_estimates=better)
    finding = decides(problem, planned.best, better, bill(problem, planned.question, better.design))
    return replace(answer, planned=planned, findings=(*answer.findings, finding))


def without_estimates(problem: Problem) -> Problem | None:
    """The problem without the estimates that planning goes by; None if there are none."""
    names = {each.name for each in problem.components if each.estimate and not (each.memory or each.offloaded)}
    if not names:
        return None
    components = tuple(replace(each, estimate=None) if each.name in names else each for each in problem.components)
    return replace(problem, job=replace(problem.job, components=components))


def _better(open_: Problem, planned: Planned, limit: float, seed: int) -> Priced | None:
    """What a search without estimates prefers, if that is better than what was planned."""
    workload = open_.job.workload
    if workload is None:
        return None
    question, model = asked(open_, workload), cost_model(workload.model)
    excluded = [_bare(each.priced.design, question) for each in planned.unplaceable]
    found = search(question, model, limit, seed, 1, [each for each in excluded if each is not None]).best
    if found is None or found.price >= price(planned.question, model, planned.best.design):
        return None
    return Priced(found.design, iteration(model, question, found.design), tuple(segment_times(model, question, found.design)))


def _bare(design: Design, question: Question) -> Design | None:
    """The same design with the options of a question without estimates; None if it has them not, as others are never worse."""
    options = {}
    for name, option in design.options.items():
        same = (
            each
            for each in question.options[name]
            if (each.kind, each.amount, each.parallel) == (option.kind, option.amount, option.parallel)
        )
        if (found := next(same, None)) is None:
            return None
        options[name] = found
    return replace(design, options=options)
