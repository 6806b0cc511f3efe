"""A launch in this process, for as long as the command lasts."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ..showing.steps import shown_steps
from .outcome import FAILED, NOT_LAUNCHED, OK, failed, ran, runs, workers_and_given
from .wanted import Wanted

if TYPE_CHECKING:
    from ...runtime.detached.claim import Claim
    from ...runtime.launched import Launch


def launch_here(wanted: Wanted, kept: bool) -> int:
    """Launches in this process, and ends it: at once, when the method has returned, or if it is kept on Ctrl-C. The exit code."""
    from ...report.text import render_unchecked
    from ...runtime.detached.claim import Claim
    from ...runtime.detached.keeping import heeding, keep
    from ...runtime.detached.record import workers_of
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
            with shown_steps(wanted.progress) as told:
                running = stack.enter_context(
                    launch(
                        wanted.plan, address=wanted.address, worker=wanted.worker, timeout=wanted.timeout, trusted_env=wanted.trusted_env,
                        progress=told, wait=wanted.wait, restarts=wanted.restarts, problem=wanted.problem, methods=wanted.methods,
                        share_nodes=wanted.share_nodes,
                    )
                )  # fmt: skip
            verdict, workers = FAILED, workers_of(running)
            click.echo(workers_and_given(workers, running.given))
            if running.unchecked:
                click.echo("\n" + render_unchecked(running.unchecked))
            if claim is not None:
                with suppress(KeyboardInterrupt), heeding(claim):
                    keep(running, wanted.method, _Noted(wanted, claim).note, stay=True)
            elif wanted.method:
                with shown_steps(wanted.progress) as told:
                    told(Step(f"calling `{wanted.method}`"))
                    running.run(wanted.method)
    except LaunchFailed as problem:
        return failed(problem, verdict)
    click.echo("\n" + ran(workers, wanted.simulated), color=True)
    return OK


@dataclass(frozen=True)
class _Noted:
    """Writes down, and says, where a launch is that is kept."""

    wanted: Wanted
    claim: Claim

    def note(self, running: Launch) -> None:
        """The launch runs, for the first time or again."""
        from ...models.placements.plan_file import plan_to_json
        from ...runtime.detached.record import record_of

        record = record_of(self.claim.name, self.wanted.file, running, self.wanted.simulated)
        self.claim.keep(record, plan_to_json(running.plan))
        click.echo("\n" + runs(record, f"Ctrl-C, or `placewright stop {record.name}`"), color=True)
        sys.stdout.flush()
