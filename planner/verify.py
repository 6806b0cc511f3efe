"""Verdict on a file, including quick infeasibility of open components."""

from __future__ import annotations

from typing import Iterator

from ..models.findings.finding import Finding
from ..models.findings.selection import CodeSelection
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from ..solver.verify import verify as verify_given


def verify(reading: Reading, selection: CodeSelection | None = None) -> Report:
    """Verify a file: findings of reading, of its ranks, and quick infeasibility.

    Findings that `selection` ignores do not count for the verdict.
    """
    return verify_given(reading, why_not, selection)


def why_not(problem: Problem) -> Iterator[Finding]:
    """Yield reasons for infeasibility without a search; loaded late, as few files need it."""
    from .at_sight import at_sight

    yield from at_sight(problem)
