"""Framework refusals: the user's file with a plan written into it, read and verified again."""

from __future__ import annotations

from dataclasses import replace
from typing import Callable, Iterator, Sequence

from ..models.dialects.recognition import dialect_named
from ..models.findings.finding import Finding, Severity, UnusableInput
from ..models.findings.span import apply_edits
from ..models.placements.plan import Plan
from ..models.planning.design import Design
from ..models.problem import Problem
from ..models.reading import Reading
from ..solver.verify import findings_of
from .verify import why_not

Refuses = Callable[[Problem, Plan], Sequence[Finding]]
"""Function from a problem and a plan to the framework's findings.

Empty if accepted or unknown.
"""

Refused = Callable[[Plan, Design], Sequence[Finding]]
"""Function from a placement and its design to the framework's findings; empty if accepted."""


def accept_all(problem: Problem, plan: Plan) -> Sequence[Finding]:
    """Accept every plan."""
    return ()


def refusing(reading: Reading | None) -> Refuses:
    """Return a function for new findings with a plan in this file.

    Findings on the plan's machines that the file does not have already. Empty without a file, for a
    plan that cannot be written, and for a plan equal to the file. If degrees follow from sizes, a
    plan that cannot be written is refused, as its degrees would differ. If the problem lacks a
    demand of the file, that demand is still in the file: only findings of the framework count then.
    """
    if reading is None or reading.session.as_before is None or reading.problem is None:
        return accept_all
    file, own_problem = reading, reading.problem

    def refuses(problem: Problem, plan: Plan) -> Sequence[Finding]:
        placed = replace(problem, cluster=plan.cluster)
        try:
            edits = dialect_named(file.dialect).write(replace(file, problem=placed), plan.assignment, plan.degrees)
        except UnusableInput as refusal:
            return refusal.findings if problem.job.planning.by_size else ()
        if not edits:
            return ()
        machines = None if plan.cluster == own_problem.cluster else replace(plan.cluster, declared=())
        whole = problem.demands == own_problem.demands

        def errors(text: str) -> list[Finding]:
            # The plan has degrees of its own: whether any of those that hints leave open could be taken is not asked again.
            there = file.session.read(text, machines)
            return list(_errors(replace(there, session=replace(there.session, refusal_reported=True)), whole))

        after = errors(apply_edits(file.source.text, edits))
        before = {(finding.code, finding.subject) for finding in errors(file.source.text)} if after else set()
        return [finding for finding in after if (finding.code, finding.subject) not in before]

    return refuses


def _errors(reading: Reading, whole: bool) -> Iterator[Finding]:
    """Yield the errors of a file; without `whole` only those of reading it."""
    findings = findings_of(reading, why_not) if whole else reading.findings
    return (finding for finding in findings if finding.severity is Severity.ERROR)
