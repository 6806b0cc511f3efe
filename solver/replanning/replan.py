"""Plan after a change: as near the one before as can be, what moved, and what more moves buy."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Sequence

from ...models.answer import IMPOSSIBLE, Solve
from ...models.cap import Cap
from ...models.placements.assignment import Assignment
from ...models.placements.moves import Moved, Moves, Trade
from ...models.placements.plan import Plan, Term
from ...models.placements.sound import carried
from ...models.problem import Problem
from ..objectives.idle import Idle
from ..objectives.moves import Members, Pieces, movable, piece_size, pieces, remaining
from ..objectives.moves import Moves as MovesTerm
from ..objectives.preferred import Preferred


def after(problem: Problem, before: Plan) -> Problem:
    """The question, to be answered near a plan that was made for another cluster or job; nodes are matched by their names.

    Of a component whose degrees the plan chose otherwise than they are now nothing can be kept, so it has no place before.
    """
    placed = carried(before, problem.cluster)
    names = {component.name for component in problem.components}
    chosen = before.degrees
    kept = {
        name: runs
        for name, runs in placed.runs.items()
        if name in names and (name in problem.job.choices or chosen.get(name, problem[name].parallel) == problem[name].parallel)
    }
    return replace(problem, previous=replace(placed, runs=kept))


def moves(question: Problem, before: Plan, now: Plan) -> Moves:
    """What became of the groups of a plan in an answer to a question that was asked near it (see `after`)."""
    chosen = _chosen(question, now)
    parts = tuple(part for members in movable(chosen) if (part := _moved(chosen, members, before, now)).before)
    dealt = tuple(_dealt(each.name, question, before, now) for each in question.components if each.name in question.job.in_turn)
    # The term counts too what ends because less is asked for than could be: of what moves it is as far from its bound.
    open_still = next((term.value - term.bound for term in now.terms if term.name == MovesTerm.name), 0)
    # What the framework lays out by itself, or lies over what is given, is not searched for the fewest moves.
    searched = question.job.planning.laying is None and not question.job.overlaps
    least = max(0, sum(part.moved for part in parts) - open_still) if searched else 0
    shown = tuple(part for part in dealt if part.before)
    told = tuple((term.name, term.value) for term in before.terms)
    return Moves((*parts, *shown), least, told, traffic_first=_traffic_first(now))


def _traffic_first(plan: Plan) -> bool:
    """Was something made as small as possible before the moves that otherwise comes after them?"""
    tier = next((term.tier for term in plan.terms if term.name == MovesTerm.name), 0)
    return any(term.tier < tier and term.name not in (Idle.name, Preferred.name) for term in plan.terms)


def _chosen(question: Problem, plan: Plan) -> Problem:
    """The question with the degrees that the plan chose."""
    components = tuple(replace(each, parallel=plan.degrees.get(each.name, each.parallel)) for each in question.components)
    return replace(question, job=replace(question.job, components=components, choices={}))


def _moved(problem: Problem, members: Members, before: Plan, now: Plan) -> Moved:
    size = piece_size(problem, members)
    then = pieces(problem, members, before.assignment)
    old = pieces(problem, members, problem.previous) if problem.previous else Pieces({}, {}, 0)
    stayed, new = remaining(problem, members, old).at, pieces(problem, members, now.assignment).at
    kept = [piece for piece in stayed if piece in new]
    amount = max(now.assignment.amount(component.name) for component in members) // size
    name = "+".join(component.name for component in members)
    renumbered = sum(stayed[piece] != new[piece] for piece in kept)
    return Moved(name, size, then.count, amount, then.count - len(stayed), len(kept), renumbered)


def _dealt(name: str, question: Problem, before: Plan, now: Plan) -> Moved:
    """What became of processes that the framework deals out to nodes: on its node one is like another, but for its rank."""
    old, new = _nodes(question.previous, name) if question.previous else {}, _nodes(now.assignment, name)
    then, there = Counter(old.values()), Counter(new.values())
    same = sum(new.get(rank) == node for rank, node in old.items())
    count, kept = before.assignment.world_size(name), sum((then & there).values())
    return Moved(name, 1, count, len(new), count - len(old), kept, max(0, kept - same))


def _nodes(assignment: Assignment, name: str) -> dict[int, int]:
    """Process -> its node."""
    return {rank: run.node for run in assignment.of(name) for rank in run.ranks}


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
