"""Verdict on a file, including quick infeasibility of open components."""

from __future__ import annotations

from typing import Iterator

from ..models.findings.finding import Finding
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from ..solver.verify import verify as verify_given


def verify(reading: Reading) -> Report:
    """Verify a file: findings of reading, of its ranks, and quick infeasibility."""
    return verify_given(reading, why_not)


def why_not(problem: Problem) -> Iterator[Finding]:
    """Yield reasons for infeasibility without a search; loaded late, as few files need it."""
    from .at_sight import at_sight

    yield from at_sight(problem)
