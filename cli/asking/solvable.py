"""Whether a file can be solved at all: said before a search begins, for every verb that searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ...models.findings.finding import error
from ...models.report import UNUSABLE as UNUSABLE_FILE
from ...report.terminal import escape
from ..showing.findings import echo_findings

if TYPE_CHECKING:
    from ...models.reading import Reading

OK, FINDINGS, UNUSABLE = 0, 1, 2


def solvable(reading: Reading, form: str) -> tuple[Reading | None, int]:
    """The reading with 0 if it can be solved; else None and the exit code. Its findings are printed."""
    from ...solver.verify import verify

    report, file = verify(reading, open_too=False), reading.source.name
    if report.findings:
        echo_findings(report.findings, err=True, texts=report.texts)
    if form == "json" and (report.errors or reading.problem is None):
        from ...report.json import render as render_json

        click.echo(render_json([report]))
    if report.errors or reading.problem is None:
        click.echo(f"{escape(file)}: not solved", err=True)
        return None, UNUSABLE if report.verdict == UNUSABLE_FILE else FINDINGS
    if not reading.problem.cluster.counted:
        message = "nobody says how many accelerators there are"
        echo_findings([error("PW011", "", message, help="name the cluster, such as `--cluster 2x8xH100`")], err=True)
        click.echo(f"{escape(file)}: not solved", err=True)
        return None, UNUSABLE
    return reading, OK
