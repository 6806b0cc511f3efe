"""What a few moves more would buy: the next point on the line between moves and cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ...models.answer import IMPOSSIBLE, Solve
from ...models.cap import Cap
from ...models.placements.moves import Moves, Trade
from ...models.placements.plan import Plan, Term
from ...models.problem import Problem
from ..objectives.moved.moves import Moves as MovesTerm


def with_trade(question: Problem, moves: Moves, plan: Plan, solve: Solve) -> Moves:
    """The moves of a plan, with the fewest that would make the most important cost that can be smaller smaller.

    Cost by cost in their order, each next one with the earlier ones no worse than they are: the same question with that limit is solved,
    fewest moves first. `question` is the one that the plan answers.
    """
    caps: list[Cap] = []
    # What comes before the moves, and is no smaller because of a limit that is asked for them, may still be.
    proved = not any(name == MovesTerm.name for cap in question.caps for name, _ in cap.terms) and _earlier_are_least(plan)
    for terms in _tiers_after_moves(plan):
        names = tuple((term.name, term.weight // min(its.weight for its in terms)) for term in terms)
        now = sum(cost * term.value for (_, cost), term in zip(names, terms))
        if now > 0:
            answer = solve(replace(question, caps=(*question.caps, *caps, Cap(names, now - 1))))
            if answer.plan is not None:
                return replace(moves, trade=_trade(terms, answer.plan))
            proved = proved and answer.verdict == IMPOSSIBLE
        caps.append(Cap(names, now))
    return replace(moves, no_trade=proved)


def _earlier_are_least(plan: Plan) -> bool:
    """Is what comes before the moves proved to be as small as it can be?"""
    first = next((term.tier for term in plan.terms if term.name == MovesTerm.name), 0)
    return all(term.value == term.bound for term in plan.terms if term.tier < first and term.weight)


def _tiers_after_moves(plan: Plan) -> list[list[Term]]:
    """The terms that are weighed together, those of each tier that comes after the moves."""
    first = next((term.tier for term in plan.terms if term.name == MovesTerm.name), None)
    later = sorted({term.tier for term in plan.terms if first is not None and term.tier > first})
    return [[term for term in plan.terms if term.tier == tier] for tier in later]


def _trade(terms: Sequence[Term], plan: Plan) -> Trade:
    """The term that gets smaller by most."""
    then = {term.name: term.value for term in plan.terms}
    best = max(terms, key=lambda term: term.weight * (term.value - then.get(term.name, 0)))
    return Trade(then.get(MovesTerm.name, 0), best.name, best.value - then.get(best.name, 0))
