"""A launch in this process, for as long as the command lasts."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import click

from ..exit_codes import OK
from ..showing.steps import StepOutput, shown_steps
from .outcome import FAILED, NOT_LAUNCHED, failed, ran, runs, workers_and_given
from .wanted import LaunchOptions

if TYPE_CHECKING:
    from ...runtime.detached.record import Claim, Record, Worker
    from ...runtime.failure import LaunchFailed
    from ...runtime.launch import Launch


def launch_here(wanted: LaunchOptions, kept: bool) -> int:
    """Launch in this process until the end of the launch; return the exit code."""
    from ...report.text import render_unchecked
    from ...runtime.detached.keeper import run_kept, stopping_on_request
    from ...runtime.detached.record import Claim, workers_of
    from ...runtime.failure import LaunchFailed
    from ...runtime.launch import launch
    from ...runtime.progress import Step

    verdict = NOT_LAUNCHED
    try:
        with ExitStack() as stack:
            claim = Claim(wanted.fresh_name()) if kept else None
            if claim is not None:
                stack.callback(claim.give_up)
                claim.take()
            steps = stack.enter_context(shown_steps(wanted.progress))
            running = stack.enter_context(
                launch(
                    wanted.plan, address=wanted.address, worker=wanted.worker, timeout=wanted.timeout, trusted_env=wanted.trusted_env,
                    progress=steps, wait=wanted.wait, restarts=wanted.restarts, problem=wanted.problem, reading=wanted.reading, methods=wanted.methods,
                    share_nodes=wanted.share_nodes, elastic=wanted.elastic, name=claim.name if claim is not None else wanted.stem,
                )
            )  # fmt: skip
            steps.clear()
            verdict, workers = FAILED, workers_of(running)
            click.echo(workers_and_given(workers, running.given))
            if running.unchecked:
                click.echo("\n" + render_unchecked(running.unchecked))
            if claim is not None:
                notes = _Notes(wanted, claim, steps)
                with suppress(KeyboardInterrupt), stopping_on_request(claim):
                    run_kept(running, wanted.method, notes.runs, notes.lost, stay=True)
                workers = notes.workers or workers
            elif wanted.method:
                steps(Step(f"calling `{wanted.method}`"))
                running.run(wanted.method)
                workers = workers_of(running)
    except LaunchFailed as problem:
        return failed(problem, verdict)
    click.echo("\n" + ran(workers, wanted.simulated), color=True)
    return OK


class _Notes:
    """Writes down, and says, how a launch is that is kept."""

    def __init__(self, wanted: LaunchOptions, claim: Claim, steps: StepOutput) -> None:
        self._wanted = wanted
        self._claim = claim
        self._steps = steps
        self._record: Record | None = None

    @property
    def workers(self) -> tuple[Worker, ...]:
        """Workers of the last run; empty before the first."""
        return self._record.workers if self._record is not None else ()

    def runs(self, running: Launch) -> None:
        """Record and print a running launch, the first time and after restarts."""
        from ...models.placements.plan_file import plan_to_json
        from ...report.text import render_unchecked
        from ...runtime.detached.record import record_of

        again, record = self._record is not None, record_of(self._claim.name, self._wanted.file, running, self._wanted.simulated)
        self._record = record
        self._claim.keep(record, plan_to_json(running.plan))
        self._steps.clear()
        if again:
            click.echo(f"\n{running.recoveries[-1]}\n" + workers_and_given(record.workers, running.given))
            if running.unchecked:
                click.echo("\n" + render_unchecked(running.unchecked))
        click.echo("\n" + runs(record, f"Ctrl-C, or `placewright stop {record.name}`"), color=True)
        sys.stdout.flush()

    def lost(self, failure: LaunchFailed) -> None:
        """Record a loss before its replacement; the next steps print it."""
        if self._record is not None:
            self._record = self._record.recovering(failure)
            self._claim.write(self._record)
