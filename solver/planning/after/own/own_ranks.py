"""The file's own placement, priced as the answer is: what its ranks come to under the same cost model."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from .....models.findings.finding import Severity
from .....models.placements.assignment import Assignment
from .....models.planning.design import Design
from .....models.planning.planned import Planned, Priced
from .....models.planning.question import Question
from .....models.planning.workload import Workload
from .....models.problem import Problem
from ...asking.asked import asked
from ...asking.of_ties import as_chosen
from ...asking.of_ties import as_written as as_written_degrees
from ...asking.related import related
from ...asking.spanning import counts_by_model
from ...asking.taking_turns import overlapping, taking_turns
from ...asking.traffic import Traffic
from ...check import forbidden
from ...costs import cost_model
from ...costs.cost_model import CostModel, iteration, segment_times
from ...loop.fitting import as_written
from ...memory.without import without_estimates
from ...placing.lying_over import all_held
from ...placing.turns_put_back import RanksPutBack
from ..basis import bases
from .design import design_of_ranks
from .over_estimates import as_declared, over_estimates
from .over_nodes import given_over_nodes
from .own import Own
from .refused import refused
from .seats import NoPrice, runs_of, seats_of
from .several_kinds import as_it_lies


def own(problem: Problem, planned: Planned) -> Own | None:
    """What the file's own ranks come to, of those that were read anew; None where it has none."""
    if not problem.job.own:
        return None
    turned = taking_turns(problem) if any(overlapping(problem)) else None
    if turned is not None and (ranks := RanksPutBack.of(problem)) is not None:
        its = as_written_degrees(turned)
        found = own_of(its, asked(its, its.job.workload or Workload()), cost_model(planned.model))
        return replace(found, priced=found.priced and ranks.priced(found.priced), problem=problem, question=ranks.question(found.question))
    if planned.question.over_kinds:  # its ranks may be on other models, or on one
        its = as_written_degrees(problem)
        return own_of(its, asked(its, its.job.workload or Workload()), cost_model(planned.model))
    its, question = (problem, planned.question) if not planned.in_part else _as_written(problem, planned)
    return own_of(its, question, cost_model(planned.model))


def _as_written(problem: Problem, planned: Planned) -> tuple[Problem, Question]:
    """The problem with the degrees of the file, and its question, which heeds the estimates of memory if that of the plan does."""
    for its in (problem, without_estimates(problem)):
        workload = its.job.workload if its is not None else None
        if (
            its is not None
            and workload is not None
            and asked(as_chosen(its, planned), workload, planned.question.barred) == planned.question
        ):
            return as_written_degrees(its), asked(as_written_degrees(its), workload)
    return problem, planned.question


def own_of(problem: Problem, question: Question, model: CostModel) -> Own:
    """What the ranks come to that the file gives to the components of a question."""
    question = given_over_nodes(problem, question)
    try:
        seats = seats_of(problem, question)
        lies = as_it_lies(problem, question, seats)
        design = design_of_ranks(lies, seats, model)
    except NoPrice as reason:
        return Own(None, problem, question, str(reason))
    question = lies.question
    times = tuple(segment_times(model, question, design))
    placed = Assignment({name: runs_of(problem, question, name) for name in seats})
    held = all_held(problem, Assignment({**problem.given().runs, **placed.runs})) if question.shared else None
    priced = Priced(design, iteration(model, question, design), times, _traffic(problem, question), held)
    reasons, known = _refusals(problem, _with_beaten(problem, question, design), design)
    known = replace(_demanded(problem, known), barred=())
    reasons = [*reasons, *problem.job.own_faults, *_too_many(question, priced)]
    refuses = (*reasons, *_forbidden(known, model, design))
    broken = () if reasons else tuple(_broken(problem, question, design))
    offered = _with_offered(problem, known, design)
    unclear = bool(refuses) and not reasons and not broken and not any(_forbidden(offered, model, design))
    counts = counts_by_model(problem, placed, seats) if lies.problem is not problem else {}
    basis, large = bases(lies.problem, question, design), tuple(over_estimates(lies.problem, question, design))
    return Own(
        priced, lies.problem, question, forbidden=refuses or broken, unclear=unclear, bases=basis, counts=counts, over_estimates=large
    )


def _forbidden(question: Question, model: CostModel, design: Design) -> Iterator[str]:
    """What is forbidden of ranks; estimates of memory are no demand."""
    asked_for, its = as_declared(question, design)
    return forbidden(asked_for, model, its)


def _refusals(problem: Problem, question: Question, design: Design) -> tuple[list[str], Question]:
    """Why counts of a design are not among the options, as far as that is known; the question that has them."""
    options, reasons = dict(question.options), []
    for name, mine in design.options.items():
        if mine not in options[name] and (reason := refused(problem, problem[name], mine.amount, mine.parallel)):
            reasons.append(reason)
            options[name] = (*options[name], mine)
    others = {name for name, mine in design.options.items() if mine.parallel not in problem.job.choices.get(name, (mine.parallel,))}
    ways = tuple(  # pairs say of offered degrees alone what goes together
        replace(way, paired=tuple(each for each in way.paired if others.isdisjoint((each.one, each.other)))) for way in question.ways
    )
    return reasons, replace(question, options=options, ways=ways)


def _with_offered(problem: Problem, question: Question, design: Design) -> Question:
    """The question with the options of a design whose degrees its hints offer, whatever speaks against these counts."""
    mine = {name: its for name, its in design.options.items() if its.parallel in problem.job.choices.get(name, (problem[name].parallel,))}
    return replace(question, options={name: (*its, *([mine[name]] if name in mine else [])) for name, its in question.options.items()})


def _too_many(question: Question, priced: Priced) -> Iterator[str]:
    """That more accelerators are held than may be, where what is shared lies so that the design does not say it."""
    most = question.budget.accelerators
    if most is not None and priced.accelerators(question) > most + question.held >= priced.design.held(question):
        yield f"{priced.accelerators(question)} accelerators are used, {most + question.held} may be"


def _demanded(problem: Problem, question: Question) -> Question:
    """The question without what only tells a plan where to leave those that have no times, and what follows from that, unless it is demanded too.

    What was to lie inside something else for that alone may lie there, or anywhere; so may what a plan has apart.
    """
    relations = tuple(each for each in problem.job.relations if not each.proposed)
    if len(relations) == len(problem.job.relations):
        return question
    bare = replace(problem, job=replace(problem.job, relations=relations))
    said = related(bare, [bare[name] for name in question.components])
    same = {frozenset(pair) for pair in said.together}
    together = frozenset(pair for pair in question.together if frozenset(pair) in same)
    led = {name for each in problem.job.relations if each.proposed for name in each.components if problem[name].timed is None}
    return replace(
        question, together=together, within=question.within & said.within, inside=question.within - said.within, alone=question.alone - led
    )


def _broken(problem: Problem, question: Question, design: Design) -> Iterator[str]:
    """The rules that the ranks break, where the design itself may be proposed."""
    from ....given import check_given

    for finding in check_given(as_written(problem, question, design)):
        if finding.severity is Severity.ERROR:
            yield f"{finding.code}: {finding.message}"


def _with_beaten(problem: Problem, question: Question, design: Design) -> Question:
    """The question with the options of a design that its hints offer, and that it has not because others beat them."""
    options = dict(question.options)
    for name, mine in design.options.items():
        offered = problem.job.choices.get(name, (problem[name].parallel,))
        whole = not mine.amount % problem.divided(name, mine.parallel).replica
        beaten = mine not in options[name] and mine.parallel in offered and whole
        if beaten and any((its.kind, its.amount) == (mine.kind, mine.amount) for its in options[name]):
            options[name] = (*options[name], mine)
    return replace(question, options=options)


def _traffic(problem: Problem, question: Question) -> int:
    """Nanoseconds that what crosses the topology takes, where that counts."""
    workload = problem.job.workload
    if workload is None or not workload.bandwidth:
        return 0
    runs = {each.name: its for each in problem.components if (its := problem.job.own.get(each.name) or each.runs)}
    return Traffic(problem, workload).nanoseconds(Assignment(runs))
