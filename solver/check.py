"""All rules at once: plain arithmetic over runs and nodes; no solver is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.component import Relation
from ..models.findings.finding import Finding
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from .rules import RULES


def check(problem: Problem, assignment: Assignment) -> Iterator[Finding]:
    """Everything that any rule has against an Assignment of all components of the problem."""
    problem = problem.decided(assignment)
    for rule in RULES:
        for subject in rule.subjects(problem):
            found = rule.check(problem, subject, assignment)
            if isinstance(subject, Relation):
                found = (replace(each, premises=subject.components) for each in found)
            yield from found
