"""Refusals of a framework: its own file with a plan written into it, read again and verified."""

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
"""Why the framework does not take the file with a plan of a problem written into it; nothing where it does, or where nobody knows."""

Refused = Callable[[Plan, Design], Sequence[Finding]]
"""Why the framework does not take the file with a placement of a design written into it; nothing where it does."""


def nobody(problem: Problem, plan: Plan) -> Sequence[Finding]:
    """Refuses nothing."""
    return ()


def refusing(reading: Reading | None) -> Refuses:
    """What is refused in this file with a plan and not before, on the machines that the plan is for.

    Nothing where no file is known, where the plan cannot be written into it, or is what it says already; but what cannot be written is
    refused where degrees follow from sizes, as they would be others. Where the problem is without
    a demand of the file, that still stands in it: then what the framework itself says counts alone.
    """
    if reading is None or reading.session.as_before is None or reading.problem is None:
        return nobody
    file, its = reading, reading.problem

    def refuses(problem: Problem, plan: Plan) -> Sequence[Finding]:
        placed = replace(problem, cluster=plan.cluster)
        try:
            edits = dialect_named(file.dialect).write(replace(file, problem=placed), plan.assignment, plan.degrees)
        except UnusableInput as refusal:
            return refusal.findings if problem.job.planning.by_size else ()
        if not edits:
            return ()
        machines = None if plan.cluster == its.cluster else replace(plan.cluster, declared=())
        whole = problem.demands == its.demands

        def errors(text: str) -> list[Finding]:
            # The plan has degrees of its own: whether any of those that hints leave open could be taken is not asked again.
            there = file.session.read(text, machines)
            return list(_errors(replace(there, session=replace(there.session, told=True)), whole))

        found = errors(apply_edits(file.source.text, edits))
        before = {(each.code, each.subject) for each in errors(file.source.text)} if found else set()
        return [each for each in found if (each.code, each.subject) not in before]

    return refuses


def _errors(reading: Reading, whole: bool) -> Iterator[Finding]:
    """What is wrong with a file; without `whole` only what its framework finds as it reads it."""
    findings = findings_of(reading, why_not) if whole else reading.findings
    return (each for each in findings if each.severity is Severity.ERROR)
