"""Makes the account of a plan."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Solve
from ....models.placements.assignment import Assignment
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question, Task
from ....models.problem import Problem
from ...sandbox.interrupts import was_heard
from ..asking.of_ties import as_asked
from ..asking.recent import remembering
from ..asking.spanning import as_it_spans
from ..asking.taking_turns import overlapping
from ..costs import cost_model
from ..costs.cost_model import CostModel
from ..memory.beside import bills
from ..placing.laying import laid_out
from .account import Account, Other
from .assumed import assumed
from .basis import bases
from .emptied import emptied
from .own.fixed import without_ranks
from .own.own_ranks import own
from .placeable import Placeable
from .rounded import rounded
from .sensitivity import SEARCHES, SPENT, sensitivity
from .shares import shares
from .usage import usages

SHARE = 0.3
"""Of the time that a plan may be searched for, what may be searched once more for where its hints are wrong, whatever the plan took."""


def account(
    problem: Problem,
    planned: Planned,
    seed: int = 1,
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
    left of `limit`, deterministic seconds, and at least in `SHARE` of it: the same input and seed give the same account. Nothing is said of it
    where not every choice of degrees was planned, or not every size.
    """
    with remembering():
        return _account(problem, planned, seed, searches, limit, solve, placed)


def _account(
    problem: Problem, planned: Planned, seed: int, searches: int, limit: float, solve: Solve | None, placed: Assignment | None
) -> Account:
    found = account_of(problem, planned, placed)
    if not searches:
        return found
    turned = any(overlapping(problem))  # the questions of the plan know nothing of ranks that overlap in part
    if problem.job.not_read or problem.job.sizes_not_read or turned:  # what else is better nobody knows, whatever a component takes
        return replace(found, without_ranks=without_ranks(problem, solve) if solve is not None and not was_heard() else None)
    workload = problem.job.workload
    questions = planned.parts or (planned.question,)
    its = [as_it_spans(as_asked(problem, each), each) for each in questions] if solve is not None else []
    placeables = [Placeable(part, each, laid_out(solve)) for part, each in zip(its, questions)] if solve is not None else []
    left, traffic = max(limit - planned.spent, SHARE * limit), workload is not None and bool(workload.bandwidth)
    changes = sensitivity(planned, seed, searches, left, placeables, traffic)
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


def _adds(question: Question, model: CostModel, best: Priced, other: Priced) -> tuple[tuple[Task, int], ...]:
    here, there = shares(question, model, best.design), shares(question, model, other.design)
    found = ((question.tasks[task], there[task] - here[task]) for task in here if there[task] != here[task])
    return tuple(sorted(found, key=lambda its: -its[1]))
