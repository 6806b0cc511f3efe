"""Account of a plan or of given ranks: time, memory, assumptions, alternatives, sensitivity."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator, Sequence

from ..models.account import FORMULA, KEEP, MEASURED, Account, Basis, Other
from ..models.answer import Solve
from ..models.placements.assignment import Assignment
from ..models.planning.planned import Planned, Priced
from ..models.planning.problem import PlanningProblem, Task
from ..models.planning.workload import SECONDS
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.tied_degrees import as_asked
from ..solver.sandbox.interrupts import was_heard
from ..solver.wording import listed
from .assumptions import assumed, bases, emptied
from .baseline import left_open, own, own_of, without_ranks
from .bills import bills
from .check import price
from .costs import cost_model
from .costs.cost_model import CostModel, iteration, segment_times
from .dividing import evenly
from .memory import without_estimates
from .placing.laying import laid_out
from .problem import asked
from .recent import remembering
from .scope import as_it_spans
from .search.search import search
from .sensitivity import SEARCHES, SPENT, Placeable, sensitivity
from .times import GRAIN
from .usage import shares, usages

SHARE = 0.3
"""Of the time that a plan may be searched for, what may be searched once more for where its hints are wrong, whatever the plan took."""
OTHERS = 3
"""Designs that stand beside the ranks, at most."""
MATTERS = 1000
"""A step that is no more than this part of a time is not told."""


def account(
    problem: Problem,
    planned: Planned,
    searches: int = SEARCHES,
    limit: float = SPENT,
    solve: Solve | None = None,
    placed: Assignment | None = None,
) -> Account:
    """The account of what planning found for a problem.

    `solve` answers a problem as the plan itself was found: by it, what has no placement is no other plan, and it is said what the ranks
    cost that the file fixes. Without it neither is asked.

    `placed` is where the plan lies, by which it is known what lies over it that is not planned.

    At most `searches` further ones say what becomes of it where a hint is wrong, none if that is 0, in what the search for the plan
    left of `limit`, deterministic seconds, and at least in `SHARE` of it: the same input gives the same account. Nothing is said of it
    where not every choice of degrees was planned, or not every size.
    """
    with remembering():
        return _account(problem, planned, searches, limit, solve, placed)


def _account(problem: Problem, planned: Planned, searches: int, limit: float, solve: Solve | None, placed: Assignment | None) -> Account:
    found = account_of(problem, planned, placed)
    if not searches:
        return found
    if problem.job.planning.not_read or problem.job.planning.sizes_not_read:  # what else is better nobody knows
        return replace(found, without_ranks=without_ranks(problem, solve) if solve is not None and not was_heard() else None)
    workload = problem.job.planning.workload
    questions = planned.parts or (planned.question,)
    its = [as_it_spans(as_asked(problem, each), each) for each in questions] if solve is not None else []
    placeables = [Placeable(part, each, laid_out(solve)) for part, each in zip(its, questions)] if solve is not None else []
    left, traffic = max(limit - planned.spent, SHARE * limit), workload is not None and bool(workload.bandwidth)
    changes = sensitivity(planned, searches, left, placeables, traffic)
    freed = without_ranks(problem, solve) if solve is not None and not was_heard() else None
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
        assumed=(*assumed(problem, question), *rounded(question, rests), *emptied(needs)),
    )


def _adds(question: PlanningProblem, model: CostModel, best: Priced, other: Priced) -> tuple[tuple[Task, int], ...]:
    here, there = shares(question, model, best.design), shares(question, model, other.design)
    found = ((question.tasks[task], there[task] - here[task]) for task in here if there[task] != here[task])
    return tuple(sorted(found, key=lambda its: -its[1]))


def given(problem: Problem, limit: float = 10.0, solve: Solve | None = None) -> Account | None:
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
    searched = search(question, model, limit, OTHERS)
    bare = without_estimates(opened) if searched.best is None and searched.proved else None
    if bare is not None and bare.job.planning.workload is not None:  # nothing fits by the estimates
        opened, workload = bare, bare.job.planning.workload
        question = asked(opened, workload)
        searched = search(question, model, limit, OTHERS)
    mine = own_of(opened, question, model)
    priced = mine.priced
    if priced is None:
        return None
    others = tuple(
        Priced(each.design, iteration(model, question, each.design), tuple(segment_times(model, question, each.design)))
        for each in searched.found
    )
    by_time = question.aim == SECONDS
    value = priced.nanoseconds + priced.traffic if by_time else price(question, model, priced.design)[0] + question.given.held
    least = value if searched.bound is None else searched.bound + (0 if by_time else question.given.held)
    bound = min(value, least) if mine.on_several_kinds else least
    # What is near enough to the bound of what was not placed stays as it is: then no placement is looked for.
    far = (value - bound) * 100 > bound * KEEP
    placed = compared(opened, question, solve) if solve is not None and far else None
    unsure = others
    if placed is not None:
        others, unsure = placed.beside(others, question, OTHERS)
        bound = max(bound, min(value, placed.planned.bound))
    planned = Planned(question, model.name, priced, bound, value <= bound, others, (), searched.structures, not_placed=unsure)
    return replace(account_of(mine.problem, replace(planned, question=mine.question), problem.given()), given=True)


@dataclass(frozen=True)
class Compared:
    """The plan without the ranks, and its designs that the question has too which the ranks are an answer to, the best first."""

    planned: Planned
    known: tuple[Priced, ...]

    def beside(self, others: tuple[Priced, ...], question: PlanningProblem, most: int) -> tuple[tuple[Priced, ...], tuple[Priced, ...]]:
        """The best designs of each structure to show beside the ranks, and those of them of which nobody knows whether they can be placed.

        Of `others`, which were not placed, none is left that is better than is proved of all that have a placement, nor where the plan is
        proved any of a structure of which one was placed.
        """
        out = (
            [each.priced.design for each in self.planned.unplaceable if each.question is None]
            if self.planned.proved and _alike(self.planned.question, question)
            else []
        )
        found: dict[object, tuple[Priced, bool]] = {each.design.structure(): (each, self._is_unsure(each)) for each in self.known[::-1]}
        for each in others:
            its = found.get(each.design.structure())
            better = its is None or (not self.planned.proved and _costs(question, each) < _costs(question, its[0]))
            if better and _costs(question, each) >= self.planned.bound and each.design not in out:
                found[each.design.structure()] = each, True
        every = sorted(found.values(), key=lambda its: _costs(question, its[0]))[:most]
        return tuple(each for each, _ in every), tuple(each for each, unsure in every if unsure)

    def _is_unsure(self, priced: Priced) -> bool:
        return any(priced is each for each in self.planned.not_placed)


def compared(opened: Problem, question: PlanningProblem, solve: Solve) -> Compared | None:
    """The plan of a problem in which the given counts are open; None where none is found."""
    answer = solve(opened)
    planned, plan = answer.planned, answer.plan
    if planned is None or plan is None:
        return None
    if _alike(planned.question, question):
        known = [each for each in (planned.best, *planned.others) if not (planned.is_own and each is planned.best)]
        return Compared(planned, tuple(known))
    best = None if planned.is_own else _translated(opened, question, planned, plan.assignment)
    return Compared(planned, () if best is None else (best,))


def _alike(one: PlanningProblem, other: PlanningProblem) -> bool:
    """Do designs of one question say the same as designs of the other?"""
    return one.kinds == other.kinds and not one.scope.over_kinds and not other.scope.over_kinds


def _translated(opened: Problem, question: PlanningProblem, planned: Planned, placed: Assignment) -> Priced | None:
    """The best design of a plan by a question with other kinds; None where that has none for it, such as on several kinds at once."""
    degrees = {name: option.parallel for name, option in planned.best.design.options.items()}
    parts = tuple(replace(each, parallel=degrees.get(each.name, each.parallel)) for each in opened.components)
    own = {name: runs for name, runs in placed.runs.items() if name in opened.job.planning.own}
    its = own_of(
        replace(opened, job=replace(opened.job, components=parts, planning=replace(opened.job.planning, own=own))),
        question,
        cost_model(planned.model),
    )
    priced, best = its.priced, planned.best
    same = priced is not None and its.question.kinds == question.kinds and _takes(priced) == _takes(best)
    return priced if same else None


def _takes(priced: Priced) -> int:
    return priced.nanoseconds + priced.traffic


def _costs(question: PlanningProblem, priced: Priced) -> int:
    return _takes(priced) if question.aim == SECONDS else priced.accelerators(question)


def rounded(question: PlanningProblem, bases: Sequence[Basis]) -> Iterator[str]:
    """One sentence for each step, ns, that is over a thousandth of some times: each batch takes whole nanoseconds, what was not measured whole microseconds."""
    found: dict[int, list[str]] = {}
    for basis in bases:
        step = max(question.flow.batches, 1 if basis.kind in (MEASURED, FORMULA) else GRAIN)
        if basis.nanoseconds < step * MATTERS:
            found.setdefault(step, []).append(str(basis.task))
    for step, names in found.items():
        batches = f", one for each of {question.flow.batches} batches" if step == question.flow.batches > 1 else ""
        what = {1: "a nanosecond", GRAIN: "a microsecond"}.get(step, f"{step:,} nanoseconds")
        yield f"{listed(names)}: such short times are rounded to {what}{batches}"
