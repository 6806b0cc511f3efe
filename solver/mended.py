"""Findings with help that was tried: the changes that a rule proposes, those of them that break nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, Iterable, Iterator

from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Edit
from ..models.problem import Problem
from .check import check
from .mends import Mend
from .rule import Mending
from .rules import RULES

SHOWN = 2
"""How many changes are proposed at most."""
MOST_TRIED = 20
"""For so many faults changes are tried; each is checked against all rules."""


def mended(problem: Problem, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What was found of a problem whose ranks are all given, with the changes that mend it where a rule knows some."""
    better: dict[Finding, tuple[str, Edit | None]] = {}
    for rule, subject in islice(_broken(problem), MOST_TRIED):
        works = list(islice((mend for mend in rule.mends(problem, subject) if _works(mend, rule, subject, found)), SHOWN))
        if works:
            text = "; or ".join(mend.text for mend in works)
            edit = works[0].edits[0] if len(works[0].edits) == 1 else None
            faults = rule.check(problem, subject, problem.given())
            better.update(dict.fromkeys(faults, (text, edit)))
    return tuple(replace(each, help=better[each][0], edit=better[each][1]) if each in better else each for each in found)


def _broken(problem: Problem) -> Iterator[tuple[Mending, Any]]:
    """(rule, subject) of every fault that the rule knows changes for."""
    for rule in RULES:
        if isinstance(rule, Mending):
            for subject in rule.subjects(problem):
                if any(rule.check(problem, subject, problem.given())):
                    yield rule, subject


def breaks_nothing(mend: Mend, before: Iterable[Finding] = ()) -> bool:
    """Are all rules kept after the change, but for those that were broken before?"""
    fresh = (finding for finding in check(mend.problem, mend.problem.given()) if finding.severity is Severity.ERROR)
    return all(finding in before for finding in fresh)


def _works(mend: Mend, rule: Mending, subject: Any, before: Iterable[Finding]) -> bool:
    """Does the changed problem keep the rule, and break none that was kept before?"""
    return not any(rule.check(mend.problem, subject, mend.problem.given())) and breaks_nothing(mend, before)
