"""All rules against one Assignment of a problem after the other: what they are about is asked once."""

from __future__ import annotations

from typing import Container

from placewright.models.findings.finding import Severity
from placewright.models.placements.assignment import Assignment
from placewright.models.problem import Problem
from placewright.solver.rules import RULES


class Judge:
    """What `check` says of Assignments, but for warnings."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._asked = [(rule, subject) for rule in RULES for subject in rule.subjects(problem)]

    def refuses(self, assignment: Assignment, but: Container[str] = ()) -> bool:
        """Has any rule an error against it, but for rules of these codes? The one that had the last is asked first."""
        for number, (rule, subject) in enumerate(self._asked):
            for finding in rule.check(self._problem, subject, assignment):
                if finding.severity is Severity.ERROR and finding.code not in but:
                    self._asked.insert(0, self._asked.pop(number))
                    return True
        return False

    def codes(self, assignment: Assignment) -> frozenset[str]:
        """The codes of all errors against it."""
        found = (finding for rule, subject in self._asked for finding in rule.check(self._problem, subject, assignment))
        return frozenset(finding.code for finding in found if finding.severity is Severity.ERROR)
