"""Is this answer right? Plain arithmetic over runs and nodes; no solver is loaded."""

from __future__ import annotations

from typing import Iterator

from ..models.assignment import Assignment
from ..models.finding import Finding, Unchecked
from ..models.plan import VERIFIED, Plan
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from .rules import RULES


def check(problem: Problem, assignment: Assignment) -> Iterator[Finding]:
    """Everything that any rule has against an Assignment of all components of the problem."""
    for rule in RULES:
        for subject in rule.subjects(problem):
            yield from rule.check(problem, subject, assignment)


def verify(reading: Reading) -> Report:
    """The verdict on a file: what reading it found, and what the rules say of the components whose ranks are given."""
    findings, unchecked = list(reading.findings), list(reading.unchecked)
    plan, pending, problem = None, tuple[str, ...](), reading.problem
    if problem is not None:
        explicit, given = problem.explicit, problem.given()
        findings += check(explicit, given)
        unchecked += _unchecked(explicit)
        pending = tuple(component.name for component in problem.hinted)
    report = Report(reading.source.name, reading.dialect, _in_order(findings), tuple(unchecked), None, pending, reading.source.text)
    if problem is not None and not report.errors:
        plan = Plan(problem.cluster, problem.given(), VERIFIED)
        report = Report(report.file, report.dialect, report.findings, report.unchecked, plan, pending, report.text)
    return report


def _in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """In the order of the text, each once."""
    return tuple(dict.fromkeys(sorted(findings, key=lambda f: (f.span.start if f.span else -1, f.code, f.message))))


def _unchecked(problem: Problem) -> Iterator[Unchecked]:
    placed = [component for component in problem.components if component.runs and any(run.each for run in component.runs)]
    without = [component.name for component in placed if not component.memory]
    if without:
        yield Unchecked("PW501", ", ".join(without), "no memory given")
