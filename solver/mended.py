"""Verified fixes of findings: changes proposed by rules that break nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, Iterable, Iterator

from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Edit
from ..models.problem import Problem
from .check import check
from .mends import RankFix
from .rule import Mending
from .rules import RULES

SHOWN = 2
"""Largest number of changes per finding."""
MOST_TRIED = 20
"""Largest number of faults with tested changes; a test checks all rules."""


def with_verified_fixes(problem: Problem, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Add verified fixes to the findings of a problem with explicit ranks."""
    better: dict[Finding, tuple[str, Edit | None]] = {}
    for rule, subject in islice(_broken(problem), MOST_TRIED):
        works = list(islice((mend for mend in rule.mends(problem, subject) if _works(mend, rule, subject, found)), SHOWN))
        if works:
            text = "; or ".join(mend.text for mend in works)
            edit = works[0].edits[0] if len(works[0].edits) == 1 else None
            faults = rule.check(problem, subject, problem.given())
            better.update(dict.fromkeys(faults, (text, edit)))
    return tuple(replace(finding, help=better[finding][0], edit=better[finding][1]) if finding in better else finding for finding in found)


def _broken(problem: Problem) -> Iterator[tuple[Mending, Any]]:
    """Yield (rule, subject) of every fault with known changes."""
    for rule in RULES:
        if isinstance(rule, Mending):
            for subject in rule.subjects(problem):
                if any(rule.check(problem, subject, problem.given())):
                    yield rule, subject


def breaks_nothing(mend: RankFix, before: Iterable[Finding] = ()) -> bool:
    """Return True if the change causes no errors beyond earlier ones."""
    fresh = (finding for finding in check(mend.problem, mend.problem.given()) if finding.severity is Severity.ERROR)
    return all(finding in before for finding in fresh)


def _works(mend: RankFix, rule: Mending, subject: Any, before: Iterable[Finding]) -> bool:
    """Return True if the change repairs the fault and breaks nothing else."""
    return not any(rule.check(mend.problem, subject, mend.problem.given())) and breaks_nothing(mend, before)
