"""`placewright status`: which launches run on after their command has ended, and what became of them."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from ..report.terminal import escape
from .exit_codes import DIFFERENT, OK
from .launching.outcome import failed, not_checked, sizes, workers_and_given
from .showing.findings import echo_findings

if TYPE_CHECKING:
    from ..runtime.detached.asking import Seen

RUNNING = "running"


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="For a person or a program.")
def status(name: str | None, form: str) -> int:
    """Say which launches run, or where the workers of one are.

    One that has failed says why until `placewright stop NAME` removes it. One that recovers says what it lost; with NAME, also what
    earlier recoveries came to. The exit code is 4 if one has failed.

    \b
    placewright status
    placewright status trial --format json
    """
    from ..runtime.detached.asking import launch_named, launches
    from ..runtime.failure import LaunchFailed

    try:
        seen = launches() if name is None else [launch_named(name)]
    except LaunchFailed as problem:
        return failed(problem, "no status")
    if form == "json":
        click.echo(json.dumps({"schema": 1, "launches": [_data(each) for each in seen]}, indent=1))
    else:
        _print(seen, whole=name is not None)
    return DIFFERENT if any(each.findings and not each.alive for each in seen) else OK


def _print(seen: list[Seen], whole: bool) -> None:
    from ..report.table import table

    if whole and seen[0].state == RUNNING:
        click.echo(workers_and_given(seen[0].record.workers, seen[0].record.given))
        if unseen := not_checked(seen[0].record):
            click.echo(unseen)
        click.echo()
        if seen[0].record.recoveries:
            click.echo("\n".join(map(escape, seen[0].record.recoveries)) + "\n")
    rows = [["launch", "state", "since", "restarts", "workers", "on", "Ray", "file"]]
    for each in seen:
        who, where = sizes(each.record.workers, each.record.simulated) if each.record.workers else ("-", "-")
        restarts = f"{each.record.restarts}/{each.record.allowed}" if each.record.allowed else "-"
        rows.append([each.record.name, each.state, _since(each), restarts, who, where, each.record.address or "-", each.record.file])
    click.echo(table(rows) if seen else "no launches")
    for each in seen:
        if each.alive:
            for its in each.findings:
                click.echo(f"\n{escape(each.record.name)} starts again: {escape(its.message)}")
        elif each.findings:
            click.echo(f"\n{escape(each.record.name)}:", err=True)
            echo_findings(each.findings, err=True, texts={})


def _since(seen: Seen) -> str:
    """UTC, to the second."""
    return datetime.fromtimestamp(seen.record.since, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _data(seen: Seen) -> dict[str, object]:
    data = seen.record.model_dump(mode="json", exclude={"schema_", "findings", "state", "since"})
    findings = [{"code": its.code, "subject": its.subject, "message": its.message, "help": its.help} for its in seen.findings]
    return {"name": seen.record.name, "state": seen.state, "since": _since(seen), **data, "findings": findings}
