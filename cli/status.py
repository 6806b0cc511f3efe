"""Verb `placewright status`: detached launches and their state."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import click

from ..report.json import attributes, unchecked_to_data, with_schema
from ..report.terminal import escape
from .exit_codes import DIFFERENT, OK
from .launching import echo_workers, print_failure, sizes_of
from .options.shared import form_option
from .output.findings import echo_findings
from .output.text import echo

if TYPE_CHECKING:
    from ..runtime.detached.launches import LaunchStatus

RUNNING = "running"


@click.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--logs", is_flag=True, help="Print the last lines that each worker of NAME printed, of a launch with --log-dir.")
@form_option
def status(name: str | None, logs: bool, form: str) -> int:
    """List the launches, or where the workers of NAME are.

    A failed launch gives the reason until `placewright stop NAME` removes it. A recovering launch
    lists its losses; with NAME, also the results of earlier recoveries. The exit code is 4 if a launch has failed.

    \b
    placewright status
    placewright status trial --format json
    placewright status trial --logs
    """
    from ..runtime.detached.launches import launch_named, launches
    from ..runtime.failure import LaunchFailed

    try:
        launches_seen = launches() if name is None else [launch_named(name)]
    except LaunchFailed as problem:
        return print_failure(problem, "no status")
    if logs:
        if name is None:
            raise click.UsageError("name the launch whose logs you want")
        click.echo(_logs(launches_seen[0]))
    elif form == "json":
        click.echo(with_schema(launches=[_launch_data(launch) for launch in launches_seen]))
    else:
        _print_launches(launches_seen, whole=name is not None)
    return DIFFERENT if any(launch.findings and not launch.alive for launch in launches_seen) else OK


def _print_launches(launches: list[LaunchStatus], whole: bool) -> None:
    from ..report.table import table

    if whole and launches[0].state == RUNNING:
        record = launches[0].record
        echo_workers(record.workers, record.given, record.unchecked)
        click.echo()
        if record.recoveries:
            echo("\n".join(map(escape, record.recoveries)) + "\n")
    rows = [["launch", "state", "since", "restarts", "size", "on", "Ray", "file"]]
    for launch in launches:
        record = launch.record
        processes, nodes = sizes_of(record.workers, record.simulated) if record.workers else ("-", "-")
        restarts = f"{record.restarts}/{record.allowed}" if record.allowed else "-"
        rows.append([record.name, launch.state, _since(launch), restarts, processes, nodes, record.address or "-", record.file])
    echo(table(rows, uncut=True) if launches else "no launches")
    for launch in launches:
        if launch.alive:
            for finding in launch.findings:
                echo(f"\n{escape(launch.record.name)} starts again: {escape(finding.message)}")
        elif launch.findings:
            click.echo(f"\n{escape(launch.record.name)}:", err=True)
            echo_findings(launch.findings, err=True, texts={})


LOG_LINES, LOG_BYTES = 20, 1 << 16


def _logs(launch: LaunchStatus) -> str:
    """Return the end of every worker's log that this machine can read."""
    from ..runtime.workers.member import log_path

    record = launch.record
    if not record.log_dir:
        where = "which end with it" if record.simulated else "on their nodes"
        return f"{escape(record.name)} was launched without `--log-dir DIR`: what its workers print is in Ray's logs, {where}"
    parts = []
    for worker in record.workers:
        path = log_path(record.log_dir, worker.component, worker.rank)
        parts.append(f"== {escape(f'{worker.component} {worker.rank} on {worker.node}: {path}')}")
        try:
            with open(path, "rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
                lines = log.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
        except OSError as problem:
            lines = [f"not readable here: {problem.strerror}"]
        parts += map(escape, lines)
    return "\n".join(parts)


def _since(launch: LaunchStatus) -> str:
    """Return the start in UTC, to the second."""
    return datetime.fromtimestamp(launch.record.since, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _launch_data(launch: LaunchStatus) -> dict[str, object]:
    data = asdict(launch.record)
    for name in ("schema", "findings", "state", "since", "token", "log_dir"):
        del data[name]
    data["unchecked"] = list(map(unchecked_to_data, launch.record.unchecked))
    findings = [attributes(finding, "code", "subject", "message", "help") for finding in launch.findings]
    return {"name": launch.record.name, "state": launch.state, "since": _since(launch), **data, "findings": findings}
