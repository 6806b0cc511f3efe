"""Everything that there is to say of a plan whose counts were chosen by time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Mapping

from ....models.memory.bill import BlockBill
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question, Task
from ....models.problem import Problem
from ..costs import cost_model
from ..costs.cost_model import CostModel
from ..memory.bill import bill
from .basis import Basis, bases
from .own import Own, own
from .sensitivity import SEARCHES, SPENT, Sensitivity, sensitivity
from .shares import shares
from .usage import Usage, usages


@dataclass(frozen=True)
class Other:
    """Another design, and what each task adds to its iteration more (or less) than to that of the plan, in ns, the most first."""

    priced: Priced
    adds: tuple[tuple[Task, int], ...]


@dataclass(frozen=True)
class Account:
    """The account of a plan.

    Attributes
    ----------
    shares : for each task the ns that it adds to an iteration.
    usages : what works on each block in each part of the iteration; none where the cost model's units are not those of a clock.
    bills : the memory of each block.
    bases : what the time of each task rests on.
    others : the best designs of other structures, and what makes them slower.
    own : the file's own placement under the same cost model; None where it has none.
    sensitivity : what becomes of the plan where a hint is wrong; None where that was not asked.
    given : are the ranks those of the file, beside which the others were found?
    """

    planned: Planned
    source: str
    shares: Mapping[Task, int]
    usages: tuple[Usage, ...]
    bills: tuple[BlockBill, ...]
    bases: tuple[Basis, ...]
    others: tuple[Other, ...]
    own: Own | None = None
    sensitivity: Sensitivity | None = None
    given: bool = False


def account(problem: Problem, planned: Planned, seed: int = 1, searches: int = SEARCHES, limit: float = SPENT) -> Account:
    """The account of what planning found for a problem.

    At most `searches` further ones say what becomes of it where a hint is wrong, none if that is 0, in at most `limit`
    deterministic seconds: the same input and seed give the same account.
    """
    found = account_of(problem, planned)
    if problem.job.workload is not None and problem.job.workload.bandwidth:
        # What crosses is known of designs that were placed; no search over designs alone says what would be better.
        return replace(found, sensitivity=Sensitivity((), tuple(dict.fromkeys(task.component for task in planned.question.tasks))))
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
