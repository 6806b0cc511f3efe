"""Verb `placewright launch`: start the workers of a plan or a configuration."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Iterator

import click

from ..models.findings.finding import Finding
from ..models.findings.wording import with_noun
from ..report.terminal import escape
from .exit_codes import FINDINGS, SIGNALLED, UNUSABLE
from .launching import intent, launch_detached, launch_here, name_of, name_refused, try_launch
from .options.shared import ReadOptions, Seconds, level_option, source_options
from .options.solvable import code_without_plan
from .options.standard_input import plan_file_in
from .output.findings import echo_findings
from .output.progress import AUTO, WAYS
from .output.text import echo
from .written import must_be_writable

if TYPE_CHECKING:
    from ..models.placements.plan import Plan
    from ..models.reading import Reading

LIMIT, SEED = 10.0, 1
SECONDS = Seconds()


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--simulate", is_flag=True, help="On a simulated cluster on this machine, whose accelerators do not exist (the default).")
@click.option(
    "--address", metavar="HOST:PORT", help="On the Ray cluster there, which this machine is part of; with tokens: RAY_AUTH_MODE=token."
)
@click.option("--worker", metavar="MODULE:CLASS", help="Worker class. Default: a built-in no-op worker.")
@click.option("--call", "method", metavar="METHOD", help="Call this method on every worker and wait until all have returned.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be reserved where on the cluster at --address, and what is short; start nothing."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before starting on the cluster at --address, as on a terminal.")
@click.option("--keep", is_flag=True, help="Let the workers run until Ctrl-C or SIGTERM.")
@click.option(
    "--detach",
    metavar="[NAME]",
    is_flag=False,
    flag_value="",
    help="Let them run on under this name when the command has ended; see `stop`.",
)
@click.option("--timeout", type=SECONDS, default=300.0, show_default=True, help="Seconds for the workers to start.")
@click.option("--wait", type=SECONDS, default=0.6, show_default=True, help="Seconds to wait for what other jobs hold.")
@click.option("--restarts", type=click.IntRange(0, 1000), default=0, show_default=True, help="How often to start again what was lost.")
@click.option("--call-timeout", type=SECONDS, help="Seconds for the called method; no limit if not given.")
@click.option("--heartbeat", type=SECONDS, default=30.0, show_default=True, help="Seconds for which a worker may be silent.")
@click.option(
    "--log-dir", metavar="DIR", type=click.Path(file_okay=False), callback=lambda ctx, param, value: os.path.abspath(value) if value else "",
    help="Folder, on every node, for what each worker prints: COMPONENT-RANK.log.",
)  # fmt: skip
@click.option(
    "--metrics",
    metavar="[HOST:]PORT",
    default="",
    help="Serve Prometheus metrics at http://HOST:PORT/metrics; HOST is 127.0.0.1 if not given.",
)
@click.option("-o", "output", metavar="FILE", help="Write what the called method returns: a line of JSON for each worker.")
@click.option(
    "--share-nodes", is_flag=True, help="Of a node that the plan uses in part, hold only so many accelerators, beside other jobs."
)
@click.option(
    "--trust-env", "trusted_env", multiple=True, metavar="NAME", help="Let node groups set this variable, which may run other code."
)
@click.option(
    "--progress", type=click.Choice(WAYS), default=AUTO, show_default=True, help="A line on a terminal and lines elsewhere, lines, or none."
)
@source_options
@level_option
def launch(
    file: str, simulate: bool, dry_run: bool, yes: bool, keep: bool, detach: str | None, output: str | None, progress: str, source: ReadOptions,
    **options: Any,
) -> int:  # fmt: skip
    """Start the workers of a plan, or of a configuration, each at its place.

    A configuration is verified first, and solved if it gives hints. All workers start, or none.
    Each worker reports its place, which is compared with the plan; then all workers end and nothing
    is left, also after Ctrl-C. With `--keep` or `--detach` they run until you end them.

    \b
    placewright launch train.yaml --simulate --cluster 2x8
    placewright launch plan.json --address 10.0.0.1:6379 \\
      --worker train.workers:Worker --call run
    placewright launch plan.json --simulate --detach trial
    placewright status; placewright stop trial
    """
    address, keeps_running = options["address"], keep or detach is not None
    if simulate and address:
        raise click.UsageError("--simulate and --address exclude each other")
    if keep and detach is not None:
        raise click.UsageError("--keep and --detach exclude each other")
    if dry_run and keeps_running:
        raise click.UsageError("--dry-run starts nothing, and goes with neither --keep nor --detach")
    if dry_run and not address:
        raise click.UsageError("--dry-run looks at a running cluster: pass `--address HOST:PORT`")
    if output and (not options["method"] or keeps_running):
        raise click.UsageError("-o writes what --call returns, and goes with neither --keep nor --detach")
    if options["call_timeout"] is not None and not options["method"]:
        raise click.UsageError("--call-timeout limits the method of --call: name one")
    with _signals_as_interrupts() as signals:
        try:
            if output:
                must_be_writable(output)
            if detach and (code := name_refused(detach)):
                return code
            outcome = _plan(file, source)
            if isinstance(outcome, int):
                return outcome
            from ..runtime.detached.messages import LaunchRequest, StoredReading

            plan, reading = outcome
            problem = reading.problem if reading is not None else None
            request = LaunchRequest(
                detach or name_of(file, keeps_running), file, plan, problem=problem, reading=StoredReading.of(reading), **options
            )
            if dry_run:
                return try_launch(request)
            click.echo(intent(request, reading))
            on_terminal = sys.stdin.isatty() and sys.stderr.isatty()
            if address and not yes and on_terminal and not click.confirm("start them?", err=True):
                click.echo("not launched", err=True)
                return FINDINGS
            if detach is not None:
                return launch_detached(request, progress)
            return launch_here(request, reading, keep, progress, output or "")
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the end of this process is left to interrupt
            number = signals[0] if signals else signal.SIGINT
            click.echo(f"interrupted by {signal.Signals(number).name}: nothing is left running", err=True)
            return SIGNALLED + number


@contextmanager
def _signals_as_interrupts() -> Iterator[list[int]]:
    """Make SIGTERM and SIGHUP end the verb like Ctrl-C; yield the signals received.

    The handlers raise KeyboardInterrupt, because Ray drops every other exception of a handler while it waits.
    """
    signals: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    handlers = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield signals
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _plan(file: str, source: ReadOptions) -> tuple[Plan, Reading | None] | int:
    """Return the plan and the Reading of a file. Without a plan, print why and return the code."""
    if (plan_file := plan_file_in(file)) is not None:
        if source.settings:
            raise click.UsageError("--set changes a configuration; a plan is made already")
        return plan_file.plan, None
    from ..models.report import UNUSABLE as UNUSABLE_FILE
    from ..solver.verify import verify

    reading = source.load(file).to_launch
    report = verify(reading)
    if report.findings:
        echo_findings(report.findings, err=True, texts=report.texts)
    if report.errors or reading.problem is None:
        if not report.errors:
            echo_findings(report.reasons, err=True)
        return _refuse(file, report.reasons, UNUSABLE if report.verdict == UNUSABLE_FILE else FINDINGS)
    if report.plan is not None and not report.pending:
        return report.plan, reading
    from ..api import solver
    from ..solver.session import Session

    with Session() as session:
        answer = solver(LIMIT, SEED, reading=reading, session=session)(reading.problem)
    if answer.plan is None:
        findings = reading.document.environment.conceal(answer.findings)
        if remaining := [finding for finding in findings if finding not in report.findings]:
            echo_findings(remaining, err=True, texts=report.texts)
        return _refuse(file, findings, code_without_plan(answer))
    return answer.plan, reading


def _refuse(file: str, findings: tuple[Finding, ...], code: int) -> int:
    echo(f"{escape(file)}: not launched, {with_noun(len(findings), 'error')}", err=True)
    return code
