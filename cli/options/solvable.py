"""Check before a search that a file can be solved, for every verb that searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from ...models.answer import UNDECIDED as UNDECIDED_ANSWER
from ...models.findings.finding import Finding, Severity, error
from ...models.report import INCOMPLETE as INCOMPLETE_FILE
from ...models.report import UNUSABLE as UNUSABLE_FILE
from ...report.terminal import escape
from ..exit_codes import FINDINGS, INCOMPLETE, OK, OUR_FAULT, UNDECIDED, UNUSABLE
from ..output.findings import echo_findings
from ..output.text import echo

if TYPE_CHECKING:
    from ...models.answer import Answer
    from ...models.reading import Reading


def is_our_fault(answer: Answer) -> bool:
    """Return True if the search failed for an internal reason."""
    return any(finding.code == "PW610" for finding in answer.findings)


def code_without_plan(answer: Answer) -> int:
    """Return the exit code of an answer without a plan.

    Undecided without an error is what only another release, or verl's own program, would refuse.
    """
    if is_our_fault(answer) or answer.verdict != UNDECIDED_ANSWER:
        return OUR_FAULT if is_our_fault(answer) else FINDINGS
    return UNDECIDED if any(finding.severity is Severity.ERROR for finding in answer.findings) else INCOMPLETE


class SolvableFile(NamedTuple):
    """Reading to solve, the exit code for an answer, and the findings printed so far."""

    reading: Reading | None
    code: int
    findings: tuple[Finding, ...] = ()


def solvable(reading: Reading, form: str) -> SolvableFile:
    """Verify a reading, print its findings, and decide if it can be solved."""
    from ...solver.verify import verify

    report, file = verify(reading), reading.source.name
    if report.findings:
        echo_findings(report.findings, err=True, texts=report.texts)
    if form == "json" and (report.errors or reading.problem is None):
        from ...report.json import render as render_json

        click.echo(render_json([report]))
    if report.errors or reading.problem is None:
        if not report.errors:
            echo_findings(report.reasons, err=True)
        echo(f"{escape(file)}: not solved", err=True)
        return SolvableFile(None, {UNUSABLE_FILE: UNUSABLE, INCOMPLETE_FILE: INCOMPLETE}.get(report.verdict, FINDINGS))
    if not reading.problem.cluster.counted:
        finding = error("PW011", "", "the number of accelerators is unknown", help="name the cluster, such as `--cluster 2x8xH100`")
        echo_findings([finding], err=True)
        if form == "json":
            from ...report.solution import without_plan

            click.echo(without_plan(file, UNUSABLE_FILE, (*report.findings, finding)))
        echo(f"{escape(file)}: not solved", err=True)
        return SolvableFile(None, UNUSABLE)
    if report.missing:
        first = report.missing[0]
        echo(f"{escape(file)}: incomplete: {escape(first.fact)}. {escape(first.add)}", err=True)
        if not reading.problem.components:
            if form == "json":
                from ...report.json import render as render_json

                click.echo(render_json([report]))
            return SolvableFile(None, INCOMPLETE)
    return SolvableFile(reading, INCOMPLETE if report.missing else OK, report.findings)
