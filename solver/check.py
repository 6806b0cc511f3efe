"""Check of an assignment against all rules, by arithmetic over runs and nodes; verified fixes.

No solver is loaded.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, Iterable, Iterator

from ..models.component import Relation
from ..models.findings.finding import Finding, Severity
from ..models.findings.span import Edit
from ..models.placements.assignment import Assignment
from ..models.problem import Problem
from ..models.sharing import given_part
from .rank_fixes import RankFix
from .rule import Mending, RelationRule
from .rules import RULES

_RULES_OF_COMPONENTS = tuple(rule for rule in RULES if not isinstance(rule, RelationRule))
MAX_FIXES = 2
"""Largest number of changes per finding."""
MOST_TRIED = 20
"""Largest number of faults with tested changes; a test checks all rules."""


def check(problem: Problem, assignment: Assignment) -> Iterator[Finding]:
    """Yield the findings of all rules on an assignment of every component."""
    problem = problem.decide(assignment)
    for rule in RULES if problem.job.relations else _RULES_OF_COMPONENTS:
        for subject in rule.subjects(problem):
            findings = rule.check(problem, subject, assignment)
            if isinstance(subject, Relation):
                findings = (replace(finding, premises=subject.components) for finding in findings)
            yield from findings


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings of severity error."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def holds(problem: Problem, assignment: Assignment) -> bool:
    """Return True if an assignment breaks no rule."""
    return not any(finding.severity is Severity.ERROR for finding in check(problem, assignment))


def check_explicit(problem: Problem) -> tuple[Finding, ...]:
    """Return the findings for explicit ranks, at the best choice of degrees.

    The best choice is the first without errors, else the first of all. A finding says when the
    framework itself notices, if the dialect knows.
    """
    best: tuple[Finding, ...] = ()
    for number, alternative in enumerate(given_part(problem).alternatives()):
        findings = tuple(check(alternative, problem.build_given()))
        if not errors(findings):
            best = findings
            break
        best = best if number else with_verified_fixes(alternative, findings)
    if not best:
        return best
    notices = problem.job.capabilities.notices
    pairs = ((finding, notices.get(finding.code, "")) for finding in best)
    return tuple(
        replace(finding, notes=(*finding.notes, notice)) if notice and notice not in finding.notes else finding for finding, notice in pairs
    )


def with_verified_fixes(problem: Problem, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Add verified fixes to the findings of a problem with explicit ranks."""
    better: dict[Finding, tuple[str, Edit | None]] = {}
    for rule, subject, faults in islice(_broken(problem), MOST_TRIED):
        repairs = (
            repair
            for repair in rule.repairs(problem, subject)
            if not any(rule.check(repair.problem, subject, repair.problem.build_given()))
        )
        if works := list(islice((repair for repair in repairs if breaks_nothing(repair, findings)), MAX_FIXES)):
            edit = works[0].edits[0] if len(works[0].edits) == 1 else None
            better.update(dict.fromkeys(faults, ("; or ".join(repair.text for repair in works), edit)))
    return tuple(
        replace(finding, help=better[finding][0], edit=better[finding][1]) if finding in better else finding for finding in findings
    )


def _broken(problem: Problem) -> Iterator[tuple[Mending, Any, list[Finding]]]:
    """Yield (rule, subject, findings) of every fault with known changes."""
    for rule in (rule for rule in RULES if isinstance(rule, Mending)):
        for subject in rule.subjects(problem):
            if faults := list(rule.check(problem, subject, problem.build_given())):
                yield rule, subject, faults


def breaks_nothing(repair: RankFix, before: Iterable[Finding] = ()) -> bool:
    """Return True if the change causes no errors beyond earlier ones."""
    return all(finding in before for finding in errors(check(repair.problem, repair.problem.build_given())))
