"""Choices of degrees by what each takes at least, known before any is planned: where that is more than a plan takes, it need not be."""

from __future__ import annotations

from dataclasses import field
from typing import Iterator, Sequence

from ....models.answer import Answer, Solve
from ....models.planning.planned import Planned
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS, Workload
from ....models.problem import Problem
from ....models.record import dataclass
from ...sandbox.interrupts import was_heard
from ..asking.asked import asked
from ..costs import cost_model
from ..costs.cost_model import CostModel
from ..loop.beside import ALTERNATIVES
from ..searching.price import ENDLESS
from ..searching.search import search
from ..searching.sizes.settling import Settled, Unsettled

SHARE = 0.1
"""Of the time of a search: so much is spent on bounds."""
MOST_BESIDE = 8
"""Choices at most that are planned only since something with them may be told beside the best plan."""


def cheapest_first(
    plan: Solve, every: Sequence[Problem], limit: float, seed: int, answer_interrupted: bool
) -> tuple[dict[int, Answer], bool, int | None]:
    """The answers of those that may have the best plan, or one to be told beside it, by their numbers.

    With them, whether others were left after a Ctrl-C; and what the others cost at least, more than the
    best plan. None where there are none that are possible.
    """
    bounds, found, beside = Bounds(SHARE * limit, seed, answer_interrupted).of(every), dict[int, Answer](), 0
    for number in sorted(range(len(every)), key=lambda each: bounds[each]):
        if found and was_heard():
            return found, True, None
        planned, least = [its.planned for its in found.values() if its.planned is not None], bounds[number]
        if planned and least > min(its.price[0] for its in planned):
            beside += 1
            if least >= ENDLESS:
                break
            if beside > MOST_BESIDE or _are_known(planned, least):
                return found, False, least
        found[number] = plan(every[number])
    return found, False, None


def _are_known(planned: Sequence[Planned], least: int) -> bool:
    """Are the best designs of other structures known, where all others cost so much at least?"""
    best = min(planned, key=lambda its: its.price)
    by_time = best.question.aim == SECONDS
    beside = (each for its in planned for each in (its.best, *its.others))
    less = (each for each in beside if (each.nanoseconds + each.traffic if by_time else each.accelerators(best.question)) < least)
    return len({each.design.structure() for each in less} - {best.best.design.structure()}) >= ALTERNATIVES


@dataclass
class Bounds:
    """What choices take at least, all of them together in so many deterministic seconds: later ones are not known to take anything."""

    limit: float
    seed: int
    answer_interrupted: bool
    spent: float = field(default=0.0, init=False)

    def of(self, every: Sequence[Problem]) -> list[int]:
        """ns, or accelerators of all components, that no plan of each problem costs less than."""
        return [self._least(each) for each in every]

    def _least(self, problem: Problem) -> int:
        """0 where nothing is known: of the file's own ranks, which may be no design."""
        workload = problem.job.workload or Workload()
        question = asked(problem, workload)
        if problem.job.own or self.spent >= self.limit or was_heard():
            return 0
        if not all(question.options.values()):
            return ENDLESS
        return self._searched(question, cost_model(workload.model))

    def _searched(self, question: Question, model: CostModel) -> int:
        """By a search for counts, of which nothing is settled."""
        found = search(question, model, self.limit - self.spent, self.seed, settle=_nothing, answer_interrupted=self.answer_interrupted)
        self.spent += found.spent
        if found.bound is None or (found.best is None and not found.proved):
            return ENDLESS if found.proved else 0
        return found.bound + (0 if question.aim == SECONDS else question.held)


def _nothing(asked: Unsettled) -> Iterator[Settled]:
    return iter(())
