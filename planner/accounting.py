"""Account of a plan or of given ranks: time, memory, assumptions, alternatives, sensitivity."""

from __future__ import annotations

from dataclasses import replace

from ..models.account import KEEP, Account, Other
from ..models.answer import Solve
from ..models.placements.assignment import Assignment
from ..models.planning.cost_models import CostModel, iteration, segment_times
from ..models.planning.planned import Planned, Priced
from ..models.planning.problem import PlanningProblem, Task
from ..models.planning.workload import SECONDS
from ..models.problem import Problem
from ..models.tied_degrees import as_asked
from ..solver.session import Session
from .assumptions import assumed, bases, emptied
from .baseline import left_open, own, own_of, without_ranks
from .benders import as_listed
from .bills import bills
from .check import price
from .costs import cost_model
from .dividing import evenly
from .memory import without_estimates
from .placing.laying import laid_out
from .problem import asked
from .scope import as_it_spans
from .search.search import search
from .sensitivity import SEARCHES, SPENT, Placeable, sensitivity
from .usage import shares, usages

SHARE = 0.3
"""Of the time that a plan may be searched for, what may be searched once more for where its hints are wrong, whatever the plan took."""
OTHERS = 3
"""Designs that stand beside the ranks, at most."""


def account(
    problem: Problem,
    planned: Planned,
    searches: int = SEARCHES,
    limit: float = SPENT,
    solve: Solve | None = None,
    placed: Assignment | None = None,
    session: Session | None = None,
) -> Account:
    """The account of what planning found for a problem.

    `solve` answers a problem as the plan itself was found: by it, what has no placement is no other plan, and it is said what the ranks
    cost that the file fixes. Without it neither is asked.

    `placed` is where the plan lies, by which it is known what lies over it that is not planned.

    At most `searches` further ones say what becomes of it where a hint is wrong, none if that is 0, in what the search for the plan
    left of `limit`, deterministic seconds, and at least in `SHARE` of it: the same input gives the same account. Nothing is said of it
    where not every choice of degrees was planned, or not every size.
    """
    found, session = account_of(problem, planned, placed), session or Session()
    if not searches:
        return found
    if problem.job.planning.not_read or problem.job.planning.sizes_not_read:  # what else is better nobody knows
        return replace(found, without_ranks=without_ranks(problem, solve) if solve is not None and not session.cancelled else None)
    workload = problem.job.planning.workload
    questions = planned.parts or (planned.question,)
    its = [as_it_spans(as_asked(problem, each), each) for each in questions] if solve is not None else []
    placeables = [Placeable(part, each, laid_out(solve)) for part, each in zip(its, questions)] if solve is not None else []
    left, traffic = max(limit - planned.spent, SHARE * limit), workload is not None and bool(workload.bandwidth)
    changes = sensitivity(planned, searches, left, placeables, traffic, session)
    freed = without_ranks(problem, solve) if solve is not None and not session.cancelled else None
    return replace(found, without_ranks=freed, sensitivity=changes)


def account_of(problem: Problem, planned: Planned, placed: Assignment | None = None) -> Account:
    """The same without further searches."""
    question, model, best = planned.question, cost_model(planned.model), planned.best.design
    needs, rests = bills(problem, question, best, placed), bases(problem, question, best)
    return Account(
        planned,
        model.source,
        {question.tasks[task]: its for task, its in shares(question, model, best).items()},
        usages(question, model, best),
        needs,
        rests,
        tuple(Other(each, _adds(question, model, planned.best, each)) for each in planned.others),
        tuple(Other(each.priced, _adds(question, model, planned.best, each.priced)) for each in planned.further),
        own(problem, planned),
        resources={name: problem.kind(problem[name]) for name in question.components if not best.blocks_of(name)},
        assumed=(*assumed(problem, question), *emptied(needs)),
    )


def _adds(question: PlanningProblem, model: CostModel, best: Priced, other: Priced) -> tuple[tuple[Task, int], ...]:
    here, there = shares(question, model, best.design), shares(question, model, other.design)
    found = ((question.tasks[task], there[task] - here[task]) for task in here if there[task] != here[task])
    return tuple(sorted(found, key=lambda its: -its[1]))


def given(problem: Problem, limit: float = 10.0, solve: Solve | None = None, session: Session | None = None) -> Account | None:
    """The account of the file's own ranks; None where they have no price, or where not all components with times have ranks.

    The designs beside them are the best of a search in which the counts of these components are open, within what their hints say, and
    which fit by the estimates of memory where any does; they were not placed. Where they are far better than the ranks, `solve` answers
    the same question with their placement, and what it proves to have none is left out. `limit` is in deterministic seconds.
    """
    workload = problem.job.planning.workload
    timed = [each for each in problem.components if each.timed]
    if workload is None or any(each.runs is None for each in timed):
        return None
    own = {each.name: each.runs for each in timed if each.runs is not None}
    parts = tuple(left_open(each) if each.timed else each for each in problem.components)
    opened = replace(problem, job=replace(problem.job, components=parts, planning=replace(problem.job.planning, own=own)))
    opened = evenly(opened) or opened
    question, model = asked(opened, workload), cost_model(workload.model)
    searched = search(question, model, limit, OTHERS, session)
    bare = without_estimates(opened) if searched.best is None and searched.proved else None
    if bare is not None and bare.job.planning.workload is not None:  # nothing fits by the estimates
        opened, workload = bare, bare.job.planning.workload
        question = asked(opened, workload)
        searched = search(question, model, limit, OTHERS, session)
    mine = own_of(opened, question, model)
    priced = mine.priced
    if priced is None:
        return None
    designs = [as_listed(each.design, question, model, question) for each in searched.found]
    others = tuple(Priced(its, iteration(model, question, its), tuple(segment_times(model, question, its))) for its in designs)
    by_time = question.aim == SECONDS
    value = priced.nanoseconds + priced.traffic if by_time else price(question, model, priced.design)[0] + question.given.held
    least = value if searched.bound is None else searched.bound + (0 if by_time else question.given.held)
    bound = min(value, least) if mine.on_several_kinds else least
    # What is near enough to the bound of what was not placed stays as it is: then no placement is looked for.
    far = (value - bound) * 100 > bound * KEEP
    placed = _placed(opened, question, solve) if solve is not None and far else None
    unsure = others
    if placed is not None:
        plan, known = placed
        every = known if known and plan.proved else (*known, *others)
        by_cost = sorted(every, key=lambda each: _costs(question, each), reverse=True)
        cheapest = {each.design.structure(): each for each in by_cost if _costs(question, each) >= plan.bound}
        others = tuple(sorted(cheapest.values(), key=lambda each: _costs(question, each)))[:OTHERS]
        unsure = tuple(each for each in others if each not in known or each in plan.not_placed)
        bound = max(bound, min(value, plan.bound))
    planned = Planned(question, model.name, priced, bound, value <= bound, others, (), searched.structures, not_placed=unsure)
    return replace(account_of(mine.problem, replace(planned, question=mine.question), problem.given()), given=True)


def _placed(opened: Problem, question: PlanningProblem, solve: Solve) -> tuple[Planned, tuple[Priced, ...]] | None:
    """Plan of a problem with open counts, and its designs by `question` but for the ranks of the file; None without a plan."""
    planned = solve(opened).planned
    if planned is None:
        return None
    is_alike = planned.question.kinds == question.kinds and planned.question.scope.over_kinds == question.scope.over_kinds
    return planned, (planned.best,) * (is_alike and not planned.is_own) + planned.others * is_alike


def _takes(priced: Priced) -> int:
    return priced.nanoseconds + priced.traffic


def _costs(question: PlanningProblem, priced: Priced) -> int:
    return _takes(priced) if question.aim == SECONDS else priced.accelerators(question)
