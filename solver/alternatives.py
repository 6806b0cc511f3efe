"""Alternative answers of different structure, and their objective loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..models.answer import Solve
from ..models.placements.plan import Plan
from ..models.problem import AMOUNT, SHARED, Key, Problem, Structure
from ..models.record import dataclass
from .session import Session
from .structure import structure_of


@dataclass(frozen=True)
class Loss:
    """Most important objective term that is worse than in the best answer, with both values."""

    term: str
    value: int
    best: int


@dataclass(frozen=True)
class Alternative:
    """Answer with a structure unlike all earlier answers.

    Attributes
    ----------
    loss : reason for not being the best; None for the best answer and for ties.
    differs : structural differences to the best answer: (figure, value, best value).
    """

    plan: Plan
    loss: Loss | None = None
    differs: tuple[tuple[Key, int, int], ...] = ()


@dataclass(frozen=True)
class Alternatives:
    """Answers, best first; `complete` is True if no further structure exists (proved)."""

    found: tuple[Alternative, ...]
    complete: bool = False


def alternatives(problem: Problem, best: Plan, count: int, solve: Solve, session: Session | None = None) -> Alternatives:
    """Return up to `count` answers of different structure, including `best`.

    Every answer is the best one unlike all earlier answers. After a Ctrl-C the answers so far are
    returned.
    """
    session = session or Session()
    first = structure_of(problem.as_chosen(best.degrees, best.assignment), best.assignment)
    answers, structures = [Alternative(best)], [first]
    while len(answers) < count:
        unlike = replace(problem, unlike=(*problem.unlike, *structures), explained=False)
        answer = session.unless_cancelled(partial(solve, unlike), lambda: None)
        if answer is None or session.cancelled:
            break
        if answer.plan is None:
            return Alternatives(tuple(answers), complete=answer.verdict == "impossible")
        structure = structure_of(problem.as_chosen(answer.plan.degrees, answer.plan.assignment), answer.plan.assignment)
        answers.append(Alternative(answer.plan, _loss(answer.plan, best), tuple(_differs(structure, first))))
        structures.append(structure)
    return Alternatives(tuple(answers))


def _loss(plan: Plan, best: Plan) -> Loss | None:
    """Return the first worse tier's term with the largest loss; None for ties."""
    best_values = {term.name: term.value for term in best.terms}
    for tier in sorted({term.tier for term in plan.terms}):
        members = [term for term in plan.terms if term.tier == tier]
        worse = sum(term.weight * (term.value - best_values.get(term.name, 0)) for term in members)
        if worse:
            most = max(members, key=lambda term: term.weight * (term.value - best_values.get(term.name, 0)))
            return Loss(most.name, most.value, best_values.get(most.name, 0)) if worse > 0 else None
    return None


def _differs(structure: Structure, first: Structure) -> list[tuple[Key, int, int]]:
    """Return the differing figures: amounts, then domains, then shared domains."""
    order = {AMOUNT: 0, SHARED: 2}
    first_figures = dict(first.figures)
    differences = [(key, figure, first_figures[key]) for key, figure in structure.figures if first_figures.get(key, figure) != figure]
    return sorted(differences, key=lambda difference: order.get(difference[0][0], 1))
