"""Plans of which an answer says nothing by itself, all of them at once: nested, with groups over nodes, with components on several kinds.

And those on other models than the plan's, where there are so many choices of these that not each is asked by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.planning.workload import Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ..asking.asked import asked
from ..asking.even import as_planned
from ..asking.nested import with_nesting
from ..asking.of_ties import as_asked
from ..memory.without import without_estimates
from .choices_of_models import MOST_PARTS, choices_of, how_many
from .every_choice import of_every_choice
from .over_kinds import on_any_kinds
from .over_nodes import may_have_groups, without_groups
from .spanning import as_any_span, as_it_spans, may_span


@dataclass(frozen=True)
class Wide:
    """The questions of a plan with all that nobody asked for, and in what they are wider: any of them.

    Attributes
    ----------
    questions : one for each question of which the plan is the best answer; no plan of any sort costs less than their best designs.
    over_nodes : may tensor parallel groups lie over nodes?
    over_kinds : may a component be on several kinds of accelerators at once?
    nested : may a component use only some of another's accelerators?
    on_models : where the plan's questions have its own models alone, those of all choices of models: no plan that was asked for costs less
        than their best designs. Empty where the plan's questions leave nothing out.
    """

    questions: tuple[Question, ...]
    over_nodes: bool
    over_kinds: bool
    nested: bool
    on_models: tuple[Question, ...] = ()

    @property
    def any(self) -> bool:
        """Is it wider at all than what was asked for?"""
        return self.over_nodes or self.nested or (self.over_kinds and not self.on_models)


def wide(problem: Problem, planned: Planned, questions: Sequence[Question]) -> Wide | None:
    """The questions of the problem of which `planned` is the answer, with all that nobody asked for; None where that is not known.

    `questions`: as they are asked by now, since what has no placement on one node may have one over nodes.
    """
    found, problem = list[Wide](), as_planned(problem, planned)
    for now, question in zip(questions, planned.parts or (planned.question,)):
        chosen = as_asked(problem, question)
        its = _asked_by(as_it_spans(chosen, question), question)
        if its is None:
            return None
        if question.on_models and how_many(chosen) > MOST_PARTS:  # of the others it is only known what they take at least
            found.append(_of_many_choices(chosen, its, question, now))
        else:
            found.append(_widened(its, question, now, bool(planned.unplaceable)))
    return Wide(
        tuple(question for each in found for question in each.questions),
        any(each.over_nodes for each in found),
        any(each.over_kinds for each in found),
        any(each.nested for each in found),
        tuple(question for each in found for question in each.on_models),
    )


def _of_many_choices(problem: Problem, its: Problem, question: Question, now: Question) -> Wide:
    """A question on some models, where there are very many others: it was asked of `its`, which is the problem with these models."""
    bare = without_estimates(problem)
    heeds = its.job.workload is not None and its.job.workload.heeds_estimates
    asked_for = problem if bare is None or heeds else bare
    loosely = as_any_span(asked_for, question)
    loose = replace(_widened(loosely, question, now, True), over_kinds=True)
    if (every := of_every_choice(asked_for)) is None:
        return replace(loose, on_models=(asked(loosely, loosely.job.workload or Workload()),))
    exact = None if loose.nested else of_every_choice(asked_for, over_nodes=True) if loose.over_nodes else every
    return replace(loose, questions=loose.questions if exact is None else (exact[0],), on_models=(every[0],))


def _widened(problem: Problem, question: Question, now: Question, unsure: bool) -> Wide:
    """One question, which is asked of the problem. Groups over nodes are left out where the question is the same with them.

    That says all only where nothing else speaks for them: no traffic that counts as time, and no design of which it is `unsure` whether
    it has a placement.
    """
    inside = None if question.nested else with_nesting(problem)
    alike = on_any_kinds(inside or problem, question)
    its = alike or inside or problem
    over_nodes, workload = may_have_groups(its, question), its.job.workload
    if workload is None:
        return Wide((now,), False, False, False)
    same = not (unsure or workload.bandwidth)
    if same and over_nodes and alike is None and inside is None:
        over_nodes = without_groups(asked(its, workload, over_nodes=True)) != without_groups(now)
    if not (over_nodes or alike or inside):
        return Wide((now,), False, False, False)
    barred = () if over_nodes or alike else now.barred  # what has no placement as a whole has none inside another either
    if alike is not None and may_span(problem, question) and how_many(problem) <= MOST_PARTS:
        return Wide(tuple(_of_each_choice(inside or problem, over_nodes)), over_nodes, True, inside is not None)
    wider = asked(its, replace(workload, heeds_estimates=workload.heeds_estimates and alike is None), barred, over_nodes)
    if same and over_nodes and alike is None:  # said only where it makes a difference
        over_nodes = without_groups(wider) != without_groups(asked(its, workload, now.barred))
    return Wide((wider,), over_nodes, alike is not None, inside is not None)


def _of_each_choice(problem: Problem, over_nodes: bool) -> Iterator[Question]:
    """The questions of plans on several kinds, one for each choice of models."""
    for its in choices_of(problem):
        if (workload := its.job.workload) is not None and all((question := asked(its, workload, over_nodes=over_nodes)).options.values()):
            yield question


def _asked_by(problem: Problem, question: Question) -> Problem | None:
    """The problem of which a question was asked: with its estimates or without them."""
    return next(
        (each for each in _ways(problem) if each.job.workload and asked(each, each.job.workload, question.barred) == question), None
    )


def _ways(problem: Problem) -> Iterator[Problem]:
    yield problem
    if (bare := without_estimates(problem)) is not None:
        yield bare
