"""The ways in which a framework can lay out sizes: where it is said what traffic costs, those with the least of it first."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Mapping, Sequence

from ....models.placements.assignment import Assignment, Run, Runs
from ....models.preference import WEIGHTED
from ....models.problem import Problem
from ...objectives import OBJECTIVES
from ...objectives.traffic.bytes_across import BytesAcross

Laid = Mapping[str, Runs]


def weighs(problem: Problem) -> bool:
    """Is it said what it costs that something crosses, as where traffic counts as time?"""
    return problem.job.preference.order == WEIGHTED


def least_first(problem: Problem, ways: Iterable[Laid | None]) -> list[Laid | None]:
    """All ways in the order of what crosses in them, of as much the one that came first; None, for those that are not known, at the end."""
    every = list(ways)
    known = [each for each in every if each is not None]
    return [*sorted(known, key=lambda each: crosses(problem, each)), *([None] if len(known) < len(every) else [])]


def crosses(problem: Problem, laid: Mapping[str, Sequence[Run]]) -> int:
    """What it costs that something crosses between what is laid out and what is given: no less of it does with all else beside."""
    weights = problem.job.preference.weights
    placed = Assignment({each.name: runs for each in problem.components if (runs := laid.get(each.name) or each.runs)})
    parts = tuple(each for each in problem.components if placed.of(each.name))
    there = replace(problem, job=replace(problem.job, components=parts))
    terms = (term for term in OBJECTIVES if isinstance(term, BytesAcross) and weights.get(term.level, 1))
    return sum(weights.get(term.level, 1) * term.value(there, placed) for term in terms)
