"""Every term of the objective, the most important first: a later one never outweighs an earlier one."""

from __future__ import annotations

from ...models.placements.assignment import Assignment
from ...models.placements.plan import Term
from ...models.problem import Problem
from ..rule import Objective
from .domains_touched import DomainsTouched
from .idle import Idle
from .nodes_of_ranges import NodesOfRanges

OBJECTIVES: tuple[Objective, ...] = (Idle(), DomainsTouched(), NodesOfRanges())


def weights(problem: Problem) -> list[int]:
    """The weight of each term: more than all later terms together can amount to."""
    found, later = [], 0
    for objective in reversed(OBJECTIVES):
        found.append(later + 1)
        later += (later + 1) * objective.most(problem)
    return found[::-1]


def terms(problem: Problem, assignment: Assignment, bounds: list[int]) -> tuple[Term, ...]:
    """Every term that this problem leaves any choice about, with its value for an answer."""
    return tuple(
        Term(objective.name, objective.value(problem, assignment), bound, weight)
        for objective, weight, bound in zip(OBJECTIVES, weights(problem), bounds)
        if objective.most(problem)
    )
