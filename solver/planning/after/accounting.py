"""Makes the account of a plan."""

from __future__ import annotations

from dataclasses import replace

from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question, Task
from ....models.problem import Problem
from ..costs import cost_model
from ..costs.cost_model import CostModel
from ..memory.bill import bill
from .account import Account, Other
from .basis import bases
from .flip import QUICKEST, SLOWEST, Sensitivity
from .own_ranks import own
from .sensitivity import SEARCHES, SPENT, sensitivity
from .shares import shares
from .usage import usages


def account(problem: Problem, planned: Planned, seed: int = 1, searches: int = SEARCHES, limit: float = SPENT) -> Account:
    """The account of what planning found for a problem.

    At most `searches` further ones say what becomes of it where a hint is wrong, none if that is 0, in at most `limit`
    deterministic seconds: the same input and seed give the same account.
    """
    found = account_of(problem, planned)
    if problem.job.workload is not None and problem.job.workload.bandwidth:
        # What crosses is known of designs that were placed; no search over designs alone says what would be better.
        names = dict.fromkeys(task.component for task in planned.question.tasks)
        return replace(found, sensitivity=Sensitivity((), tuple((name, end) for name in names for end in (SLOWEST, QUICKEST))))
    return replace(found, sensitivity=sensitivity(planned, seed, searches, min(limit, SPENT))) if searches else found


def account_of(problem: Problem, planned: Planned) -> Account:
    """The same without further searches."""
    question, model, best = planned.question, cost_model(planned.model), planned.best.design
    return Account(
        planned,
        model.source,
        {question.tasks[task]: its for task, its in shares(question, model, best).items()},
        usages(question, model, best),
        bill(problem, question, best),
        bases(problem, question, best),
        tuple(Other(each, _adds(question, model, planned.best, each)) for each in planned.others),
        own(problem, planned),
    )


def _adds(question: Question, model: CostModel, best: Priced, other: Priced) -> tuple[tuple[Task, int], ...]:
    here, there = shares(question, model, best.design), shares(question, model, other.design)
    found = ((question.tasks[task], there[task] - here[task]) for task in here if there[task] != here[task])
    return tuple(sorted(found, key=lambda its: -its[1]))
