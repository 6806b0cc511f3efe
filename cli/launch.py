"""`placewright launch`: start the workers of a plan or a configuration, each at its place, and say where they are."""

from __future__ import annotations

import re
import signal
import sys
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Iterator

import click

from ..models.findings.finding import Finding
from ..report.terminal import escape, paint, wants_colour
from .options import cluster_option, composing_options, dialect_option
from .show import echo_findings

if TYPE_CHECKING:
    from ..models.composition import Composer
    from ..models.machines.cluster import Cluster
    from ..models.machines.shorthand import AsDeclared
    from ..models.placements.plan import Plan
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import Launch

OK, FINDINGS, UNUSABLE, UNDECIDED, SIGNALLED = 0, 1, 2, 3, 128
_PLAN = re.compile(rb'\s*\{\s*"schema"\s*:')


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--simulate", is_flag=True, help="On a simulated cluster on this machine, whose accelerators do not exist (the default).")
@click.option("--address", metavar="HOST:PORT", help="On the Ray cluster that was started there, and that this machine is part of.")
@click.option("--worker", metavar="MODULE:CLASS", help="The class of every worker; one that only knows its environment if not given.")
@click.option("--call", "method", metavar="METHOD", help="Call this method on every worker and wait until all have returned.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=300.0, show_default=True, help="Seconds for the workers to start."
)
@click.option(
    "--trust-env", "trusted_env", multiple=True, metavar="NAME", help="Let node groups set this variable, which can run other code."
)
@cluster_option
@dialect_option
@composing_options
def launch(
    file: str, simulate: bool, address: str | None, worker: str | None, method: str | None, timeout: float,
    trusted_env: tuple[str, ...], machines: Cluster | AsDeclared | None, dialect: str, composer: Composer,
) -> int:  # fmt: skip
    """Start the workers of a plan, or of a configuration, each at its place.

    A configuration is verified first, and solved where it gives hints. All workers start or none; each says where it
    is, which is compared with the plan; then all are ended, and nothing is left, also after Ctrl-C.

    \b
    placewright launch train.yaml --simulate --cluster 2x8
    placewright launch plan.json --address 10.0.0.1:6379 --worker train.workers:Worker --call run
    """
    if timeout != timeout or timeout == float("inf"):
        raise click.UsageError("--timeout needs a number of seconds")
    if simulate and address:
        raise click.UsageError("--simulate and --address exclude each other")
    with _heeding_signals() as heard:
        try:
            plan = _plan(file, machines, dialect, composer)
            return plan if isinstance(plan, int) else _launch(plan, address, worker, method, timeout, trusted_env)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt but the end of this process
            number = heard[0] if heard else signal.SIGINT
            click.echo(f"interrupted by {signal.Signals(number).name}: nothing is left running", err=True)
            return SIGNALLED + number


@contextmanager
def _heeding_signals() -> Iterator[list[int]]:
    """SIGTERM and SIGHUP end the verb as orderly as Ctrl-C does; those that came are in the list.

    They raise KeyboardInterrupt, because Ray drops every other exception of a handler while it waits.
    """
    heard: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _plan(file: str, machines: Cluster | AsDeclared | None, dialect: str, composer: Composer) -> Plan | int:
    """The plan that the file is or leads to; an exit code, its reason printed, if there is none."""
    if _is_plan(file):
        from ..models.placements.plan_file import read_plan

        if composer.settings:
            raise click.UsageError("--set changes a configuration; a plan is made already")
        return read_plan(file)
    from ..models.answer import UNDECIDED as UNDECIDED_ANSWER
    from ..models.dialects.load import load
    from ..models.report import UNUSABLE as UNUSABLE_FILE
    from ..solver.verify import verify

    reading = load(file, machines, dialect, composer=composer)
    report = verify(reading)
    if report.findings:
        echo_findings(report.findings, err=True, texts=report.texts)
    if report.errors or reading.problem is None:
        return _refused(file, report.errors, UNUSABLE if report.verdict == UNUSABLE_FILE else FINDINGS)
    if report.plan is not None and not report.pending:
        return report.plan
    from ..solver.sandbox.solve import solve

    answer = solve(reading.problem)
    if answer.plan is None:
        findings = reading.document.environment.concealed(answer.findings)
        echo_findings(findings, err=True, texts=report.texts)
        return _refused(file, findings, UNDECIDED if answer.verdict == UNDECIDED_ANSWER else FINDINGS)
    return answer.plan


def _is_plan(file: str) -> bool:
    """Does the file start as a plan does? A file that cannot be read does not; whoever reads it next says why."""
    try:
        with open(file, "rb") as opened:
            return bool(_PLAN.match(opened.read(64)))
    except OSError:
        return False


def _refused(file: str, findings: tuple[Finding, ...], code: int) -> int:
    click.echo(
        f"{escape(file)}: not launched, {len(findings)} errors" if len(findings) != 1 else f"{escape(file)}: not launched, 1 error",
        err=True,
    )
    return code


def _launch(plan: Plan, address: str | None, worker: str | None, method: str | None, timeout: float, trusted_env: tuple[str, ...]) -> int:
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import launch as launched

    try:
        with launched(plan, address=address, worker=worker, timeout=timeout, trusted_env=trusted_env, progress=_progress) as running:
            verdict = _show(running, simulated=address is None)
            if method:
                _progress(f"calling `{method}`")
                running.call_all(method)
    except LaunchFailed as problem:
        return _failed(problem)
    click.echo(verdict, color=True)
    return OK


def _progress(step: object) -> None:
    if sys.stderr.isatty():
        click.echo(f"{step} ...", err=True)


def _show(running: Launch, simulated: bool) -> str:
    """Prints the audit; the verdict, to be printed when all has ended."""
    from ..report.table import table
    from ..report.text import plural, render_unchecked

    rows = [["component", "rank", "node", "name", "Ray node", "pid", "local", "sees", "audit"]]
    for row in running.audit:
        place = [str(row.node_rank), row.node, row.ray_node[:8], str(row.pid), f"{row.local_rank}/{row.local_world_size}"]
        rows.append([row.component, f"{row.rank}/{row.world_size}", *place, ",".join(row.visible) or "-", "as planned"])
    click.echo(table(rows, right=(2, 5)))
    if running.unchecked:
        click.echo("\n" + render_unchecked(running.unchecked))
    nodes = len({row.node_rank for row in running.audit})
    sizes = f"{plural(len(running.audit), 'worker')} of {plural(len(running.groups), 'component')}"
    where = f"{plural(nodes, 'simulated node' if simulated else 'node')}"
    return f"\n{paint('ok', 'green', wants_colour(sys.stdout))}: {sizes} ran on {where}, each as planned; all ended"


def _failed(problem: LaunchFailed) -> int:
    echo_findings(problem.findings, err=True)
    for line in problem.traceback.splitlines():
        click.echo(f"   | {escape(line)}", err=True)
    click.echo("not launched: nothing is left running", err=True)
    return problem.exit_code
