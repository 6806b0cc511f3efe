"""Alternatives of an answer: the best of other structure, and why they lose."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..models.answer import Solve
from ..models.placements.plan import Plan
from ..models.problem import Problem
from ..models.record import dataclass
from ..models.structure import AMOUNT, SHARED, Key, Structure
from .session import Session
from .structure import structure_of


@dataclass(frozen=True)
class Loss:
    """The most important term of the objective in which an answer is worse than the best: its name, its value here and there."""

    term: str
    value: int
    best: int


@dataclass(frozen=True)
class Alternative:
    """An answer whose structure none of those before it has.

    Attributes
    ----------
    loss : why it is not the best; None for the best itself, and for one that is as good.
    differs : the figures of its structure that differ from those of the best: (figure, its value, that of the best).
    """

    plan: Plan
    loss: Loss | None = None
    differs: tuple[tuple[Key, int, int], ...] = ()


@dataclass(frozen=True)
class Alternatives:
    """The answers found, the best first; `complete` says that it is proved that there is no other structure."""

    found: tuple[Alternative, ...]
    complete: bool = False


def alternatives(problem: Problem, best: Plan, count: int, solve: Solve, session: Session | None = None) -> Alternatives:
    """Up to `count` answers of different structure, `best` among them. Each is searched as the best one unlike all before it.

    Ctrl-C ends that with those found until then.
    """
    session = session or Session()
    first = structure_of(problem.as_chosen(best.degrees, best.assignment), best.assignment)
    found, structures = [Alternative(best)], [first]
    while len(found) < count:
        unlike = replace(problem, unlike=(*problem.unlike, *structures), explained=False)
        answer = session.unless_cancelled(partial(solve, unlike), lambda: None)
        if answer is None or session.cancelled:
            break
        if answer.plan is None:
            return Alternatives(tuple(found), complete=answer.verdict == "impossible")
        structure = structure_of(problem.as_chosen(answer.plan.degrees, answer.plan.assignment), answer.plan.assignment)
        found.append(Alternative(answer.plan, _loss(answer.plan, best), tuple(_differs(structure, first))))
        structures.append(structure)
    return Alternatives(tuple(found))


def _loss(plan: Plan, best: Plan) -> Loss | None:
    """Tiers are compared one after the other; in the first that is worse, the term that lost most."""
    theirs = {term.name: term.value for term in best.terms}
    for tier in sorted({term.tier for term in plan.terms}):
        members = [term for term in plan.terms if term.tier == tier]
        worse = sum(term.weight * (term.value - theirs.get(term.name, 0)) for term in members)
        if worse:
            most = max(members, key=lambda term: term.weight * (term.value - theirs.get(term.name, 0)))
            return Loss(most.name, most.value, theirs.get(most.name, 0)) if worse > 0 else None
    return None


def _differs(structure: Structure, first: Structure) -> list[tuple[Key, int, int]]:
    """Amounts first, then domains, then what is shared."""
    order = {AMOUNT: 0, SHARED: 2}
    theirs = dict(first.figures)
    found = [(key, figure, theirs[key]) for key, figure in structure.figures if theirs.get(key, figure) != figure]
    return sorted(found, key=lambda its: order.get(its[0][0], 1))
