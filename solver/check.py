"""Check of an assignment against all rules, by arithmetic over runs and nodes.

No solver is loaded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..models.component import Relation
from ..models.findings.finding import Finding
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from .rules import RULES


def check(problem: Problem, assignment: Assignment) -> Iterator[Finding]:
    """Yield the findings of all rules on an assignment of every component."""
    problem = problem.decided(assignment)
    for rule in RULES:
        for subject in rule.subjects(problem):
            findings = rule.check(problem, subject, assignment)
            if isinstance(subject, Relation):
                findings = (replace(finding, premises=subject.components) for finding in findings)
            yield from findings
