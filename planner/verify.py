"""Verdict on a file, also on what it leaves open, where arithmetic shows that it has no place."""

from __future__ import annotations

from typing import Iterator

from ..models.findings.finding import Finding
from ..models.problem import Problem
from ..models.reading import Reading
from ..models.report import Report
from ..solver.verify import verify as verify_given


def verify(reading: Reading) -> Report:
    """Verdict on a file: findings of reading it, of its given ranks, and why open ones have no place, where a sum shows it."""
    return verify_given(reading, why_not)


def why_not(problem: Problem) -> Iterator[Finding]:
    """Reason why what is open has no place, found without a search; it loads much, and few files have anything open."""
    from .at_sight import at_sight

    yield from at_sight(problem)
