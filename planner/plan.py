"""Plan of one problem: design, placement, what is proved of both, and alternatives."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Mapping, Sequence

from ..models.account import Own
from ..models.answer import IMPOSSIBLE, Answer, Solve
from ..models.findings.finding import Finding
from ..models.parallel import Parallel
from ..models.placements.plan import Plan
from ..models.planning.cost_models import iteration
from ..models.planning.design import Design
from ..models.planning.planned import Filled, Planned, Priced
from ..models.planning.problem import PlanningProblem
from ..models.planning.workload import SECONDS, Workload
from ..models.problem import Problem
from ..solver.rules import RULES
from ..solver.session import Session
from .baseline import own_of
from .benders import Placed, Rounds, as_written, is_where, nobody, trial, unweighed
from .check import faults
from .others import others
from .placing.placing import placing
from .problem import asked
from .refusing import Refused
from .scope import with_limits
from .search.found import OnCounting, silent
from .unplaced import not_placed, nothing, slowly_placed, too_many, with_help
from .untimed import Filling
from .why.at_sight import by_given_ranks
from .why.changes import EACH, Planner
from .why.conflict import helps_to_place, why_none

TRIED = 6
"""Rounds of a changed question, by which it is known whether the change helps."""


def plan(
    problem: Problem, workload: Workload, solve: Solve, limit: float = 10.0,
    session: Session | None = None, counting: OnCounting = silent, refused: Refused = nobody,
) -> Answer:  # fmt: skip
    """The best design that can be placed, with its placement; of designs that cost the same, of several structures, the better placement.

    `solve` places a problem whose counts are decided. The proof covers both: every design that would be better was ruled out by a
    search over designs, or by a proof that it cannot be placed. Where traffic counts as time, designs are placed in the order of their
    time with the least that any placement of them has, until that is no less than the best with its traffic. Where the file's own
    placement is as good, it is the answer. Components without times get what this design leaves of what was asked for them. `session`
    is that of search/search.py. A placement that is `refused` is the answer only where no other was found,
    and nothing is proved of it.
    """
    run = Rounds(problem, workload, solve, limit, session or Session(), counting, refused)
    if unknown := by_given_ranks(problem, run.question):
        return unknown
    while run.goes_on():
        run.place()
    return _answer(run)


def _answer(rounds: Rounds) -> Answer:
    """The best, with what is proved of it; why there is none."""
    question = asked(rounds.problem, rounds.workload, rounds.out) if rounds.done else rounds.question
    own = own_of(rounds.problem, question, rounds.model) if rounds.problem.job.planning.own else None
    best, stopped, unplaceable = _or_own(rounds, question, own) or rounds.unwritable, rounds.stopped, rounds.unplaceable
    if best is None and stopped is not None:
        return not_placed(stopped, rounds.searched.best is not None or bool(unplaceable))
    if best is None and rounds.searched.best is None and rounds.closed and not unplaceable:
        return _in_scope(why_none(rounds.problem, rounds.workload, rounds.question, _planner(rounds)), question)
    if best is None:
        none = nothing(rounds.closed and not rounds.unsure, unplaceable) if rounds.searched.best is None else too_many(unplaceable)
        slow = slowly_placed(unplaceable)
        least = slow.priced.nanoseconds + slow.priced.traffic if slow is not None else None
        changes = helps_to_place(rounds.problem, rounds.workload, _planner(rounds), question.scope.left_out, least)
        return _in_scope(with_help(none, changes), question)
    known = [] if rounds.closed or rounds.searched.bound is None else [rounds.least]
    # Nothing is better than the file's own ranks that are no plan only since nobody knows how to write them, or whether they are legal.
    stands = own is not None and (own.unclear or own.may_stay(question))
    may_be = [rounds.price(own.priced)] if own is not None and own.priced is not None and stands else []
    unknown = (*rounds.unsure, *may_be)
    bound = min([best.price[0], *known, *(price[0] for price in unknown)])
    beside, unsure = others(rounds, best)
    full, filled = _filled(rounds, best, question)
    if filled:  # one that became as large as what it lies within makes this plan one of another structure
        beside = tuple(each for each in beside if each.design.structure() != full.priced.design.structure())
    held = 0 if question.aim == SECONDS else question.given.held
    proved = bound == best.price[0] and best is not rounds.unwritable and not best.priced.design.overlapping
    planned = Planned(
        question, rounds.model.name, full.priced, bound + held, proved, beside, tuple(unplaceable), rounds.structures,
        not_placed=tuple(each for each in beside if each in unsure), is_own=best.is_own, filled=filled,
        lean=best.priced.design if filled else None, ties_open=proved and (not rounds.closed or any(price < best.price for price in unknown)),
        spent=rounds.spent,
    )  # fmt: skip
    told = dict.fromkeys((*full.answer.findings, *([stop.with_answer] if (stop := rounds.stopped) is not None else [])))
    return replace(full.answer, planned=planned, findings=tuple(told))


def _in_scope(answer: Answer, question: PlanningProblem) -> Answer:
    """An impossible answer, with the scope of what was searched."""
    if answer.verdict != IMPOSSIBLE or not question.scope.left_out:
        return answer
    first, *others = answer.findings
    note = f"searched: plans {with_limits(question.scope.left_out)}"
    return replace(answer, findings=(replace(first, notes=(*first.notes, note)), *others))


def _but_for(refused: Refused, *codes: str) -> Refused:
    """What the framework refuses for other reasons than these, that the file as it is gives."""

    def but(plan: Plan, design: Design) -> Sequence[Finding]:
        found = refused(plan, design)
        return () if all(finding.code in codes for finding in found) else found

    return but


def _planner(rounds: Rounds) -> Planner:
    return Planner(rounds.problem, partial(_tried, rounds), rounds.solve, rounds.session)


def _tried(rounds: Rounds, problem: Problem) -> tuple[int, int] | None:
    """What a changed question comes to: ns with traffic, and accelerators of all components; None where nothing was soon placed."""
    workload = problem.job.planning.workload or rounds.workload
    solve = rounds.solve if workload.bandwidth else lambda placed: rounds.solve(unweighed(placed))
    # The file as it is demands what the question was changed from; the rules were checked of the changed question.
    refused = _but_for(rounds.refused, *(rule.code for rule in RULES))
    limit = min(EACH, rounds.limit)
    run = trial(problem, workload, solve, limit, rounds.session, refused, TRIED)
    if run.best is None:
        return None
    priced = run.best.priced
    return priced.nanoseconds + priced.traffic, priced.accelerators(run.question)


def _or_own(rounds: Rounds, question: PlanningProblem, its: Own | None) -> Placed | None:
    """The best, or the file's own placement where that is no better: who has placed it so need not change it."""
    problem, best = rounds.problem, rounds.best
    if (
        its is None
        or its.priced is None
        or not its.may_stay(question)
        or its.on_several_kinds
        or (best is not None and rounds.price(its.priced) > best.price)
    ):
        return best
    alike = best is not None and _degrees(best.priced) == _degrees(its.priced)
    if alike and best is not None and best.answer.plan is not None and is_where(best.answer.plan, problem.job.planning.own):
        return replace(best, is_own=True)
    # What the dialect lays out is where it puts such sizes: that may be elsewhere, and could not be written.
    placed = placing if problem.job.planning.laying is not None else as_written
    answer = rounds.solve(rounds.traffic.asked(placed(problem, question, its.priced.design)))
    if answer.plan is None or not is_where(answer.plan, problem.job.planning.own):
        return best
    own = replace(rounds.as_placed(its.priced, answer, answer.plan), is_own=True)
    if best is None:
        most = rounds.workload.budget.nanoseconds
        return own if most is None or own.priced.nanoseconds + own.priced.traffic <= most else None
    return best if own.price > best.price or (own.price == best.price and best.is_better(own)) else own


def _degrees(priced: Priced) -> Mapping[str, Parallel]:
    return {name: option.parallel for name, option in priced.design.options.items()}


def _filled(rounds: Rounds, best: Placed, question: PlanningProblem) -> tuple[Placed, Mapping[str, Filled]]:
    """The best, where components without times have what the others leave, and what is known of these; it takes no longer.

    After a Ctrl-C it is left as it is.
    """
    if best.is_own or rounds.session.cancelled:
        return best, {}
    problem, traffic, design, takes = rounds.problem, rounds.traffic, best.priced.design, best.priced.traffic
    full, proved = Filling(problem, question, partial(_as_full, rounds, takes)).widened(design)
    known = replace(question, barred=())  # what has no placement with less need not be without one
    if full == design or iteration(rounds.model, known, full) > best.priced.nanoseconds or any(faults(known, rounds.model, full)):
        return best, {}
    answer = rounds.solve(traffic.asked(placing(problem, question, full)))
    if answer.plan is None or traffic.nanoseconds(answer.plan.assignment) > takes or rounds.refused(answer.plan, full):
        return best, {}
    filled = {name: Filled(problem[name].most, proved) for name, option in full.options.items() if option != design.options[name]}
    return rounds.as_placed(rounds.priced(full), answer, answer.plan), filled


def _as_full(rounds: Rounds, takes: int, problem: Problem) -> Answer:
    """A placement in which ranges are as full as can be, with no more time for traffic than that."""
    return rounds.solve(rounds.traffic.at_most(problem, takes) if rounds.traffic.costs else unweighed(problem))
