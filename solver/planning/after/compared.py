"""What given ranks are compared with where that is far better: the plan of the same question with its placement."""

from __future__ import annotations

from dataclasses import replace

from ....models.answer import Solve
from ....models.placements.assignment import Assignment
from ....models.planning.planned import Planned, Priced
from ....models.planning.question import Question
from ....models.planning.workload import SECONDS
from ....models.problem import Problem
from ....models.record import dataclass
from ..costs import cost_model
from .own.own_ranks import own_of


@dataclass(frozen=True)
class Compared:
    """The plan without the ranks, and its designs that the question has too which the ranks are an answer to, the best first."""

    planned: Planned
    known: tuple[Priced, ...]

    def beside(self, others: tuple[Priced, ...], question: Question, most: int) -> tuple[tuple[Priced, ...], tuple[Priced, ...]]:
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


def compared(opened: Problem, question: Question, solve: Solve) -> Compared | None:
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


def _alike(one: Question, other: Question) -> bool:
    """Do designs of one question say the same as designs of the other?"""
    return one.kinds == other.kinds and not one.over_kinds and not other.over_kinds


def _translated(opened: Problem, question: Question, planned: Planned, placed: Assignment) -> Priced | None:
    """The best design of a plan by a question with other kinds; None where that has none for it, such as on several kinds at once."""
    degrees = {name: option.parallel for name, option in planned.best.design.options.items()}
    parts = tuple(replace(each, parallel=degrees.get(each.name, each.parallel)) for each in opened.components)
    own = {name: runs for name, runs in placed.runs.items() if name in opened.job.own}
    its = own_of(replace(opened, job=replace(opened.job, components=parts, own=own)), question, cost_model(planned.model))
    priced, best = its.priced, planned.best
    same = priced is not None and its.question.kinds == question.kinds and _takes(priced) == _takes(best)
    return priced if same else None


def _takes(priced: Priced) -> int:
    return priced.nanoseconds + priced.traffic


def _costs(question: Question, priced: Priced) -> int:
    return _takes(priced) if question.aim == SECONDS else priced.accelerators(question)
