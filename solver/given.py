"""What the rules say of the components whose ranks are given."""

from __future__ import annotations

from dataclasses import replace

from ..models.findings.finding import Finding, Severity
from ..models.part import explicit
from ..models.problem import Problem
from .check import check
from .mended import mended


def check_given(problem: Problem) -> tuple[Finding, ...]:
    """What the rules have against the components whose ranks are given, with the choice of degrees that suits them best."""
    first: tuple[Finding, ...] | None = None
    for alternative in explicit(problem).alternatives():
        found = tuple(check(alternative, problem.given()))
        if not any(finding.severity is Severity.ERROR for finding in found):
            return _noticed(problem, found)
        first = mended(alternative, found) if first is None else first
    return _noticed(problem, first or ())


def _noticed(problem: Problem, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, with when the framework itself would notice, where its dialect knows that."""
    notices = problem.job.capabilities.notices
    told = []
    for finding in findings:
        notice = notices.get(finding.code, "")
        more = (notice,) if notice and notice not in finding.notes else ()
        told.append(replace(finding, notes=(*finding.notes, *more)) if more else finding)
    return tuple(told)
