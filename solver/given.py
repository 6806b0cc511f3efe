"""Check of components with explicit ranks against the rules."""

from __future__ import annotations

from dataclasses import replace

from ..models.findings.finding import Finding, Severity
from ..models.part import given_part
from ..models.problem import Problem
from .check import check
from .mended import with_verified_fixes


def check_explicit(problem: Problem) -> tuple[Finding, ...]:
    """Return the findings for explicit ranks, at the best choice of degrees.

    The best choice is the first without errors, else the first of all.
    """
    first: tuple[Finding, ...] | None = None
    for alternative in given_part(problem).alternatives():
        findings = tuple(check(alternative, problem.given()))
        if not any(finding.severity is Severity.ERROR for finding in findings):
            return _noticed(problem, findings)
        first = with_verified_fixes(alternative, findings) if first is None else first
    return _noticed(problem, first or ())


def _noticed(problem: Problem, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Add to findings when the framework itself notices, if the dialect knows."""
    notices = problem.job.capabilities.notices
    noticed = []
    for finding in findings:
        notice = notices.get(finding.code, "")
        more = (notice,) if notice and notice not in finding.notes else ()
        noticed.append(replace(finding, notes=(*finding.notes, *more)) if more else finding)
    return tuple(noticed)
