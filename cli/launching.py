"""A launch in this process, for as long as the command lasts, or in a keeper that lives on."""

from __future__ import annotations

import re
import secrets
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .launched import FAILED, NOT_LAUNCHED, failed, ran, runs, workers_table
from .steps import shown_steps

if TYPE_CHECKING:
    from ..models.placements.plan import Plan
    from ..models.problem import Problem
    from ..runtime.detached.claim import Claim
    from ..runtime.launched import Launch

OK = 0


@dataclass(frozen=True)
class Wanted:
    """A plan, made of `file`, and how it is to be launched; `problem` is what `file` asks for if it is not the plan itself."""

    plan: Plan
    file: str
    address: str | None
    worker: str | None
    method: str | None
    timeout: float
    wait: float
    restarts: int
    trusted_env: tuple[str, ...]
    progress: str
    problem: Problem | None = None

    @property
    def simulated(self) -> bool:
        """Is it for a simulated cluster?"""
        return self.address is None

    def fresh_name(self) -> str:
        """A name for this launch that no other has."""
        stem = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(self.file).stem)[:32].strip(".-")
        return f"{stem or 'launch'}-{secrets.token_hex(2)}"


def launch_here(wanted: Wanted, kept: bool) -> int:
    """Launches in this process, and ends it: at once, when the method has returned, or if it is kept on Ctrl-C. The exit code."""
    from ..report.text import render_unchecked
    from ..runtime.detached.claim import Claim
    from ..runtime.detached.keeping import heeding, keep
    from ..runtime.detached.record import workers_of
    from ..runtime.failure import LaunchFailed
    from ..runtime.launch import launch
    from ..runtime.progress import Step

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
                        progress=told, wait=wanted.wait, restarts=wanted.restarts, problem=wanted.problem,
                    )
                )  # fmt: skip
            verdict, workers = FAILED, workers_of(running)
            click.echo(workers_table(workers))
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
        from ..models.placements.plan_file import plan_to_json
        from ..runtime.detached.record import record_of

        record = record_of(self.claim.name, self.wanted.file, running, self.wanted.simulated)
        self.claim.keep(record, plan_to_json(running.plan))
        click.echo("\n" + runs(record, f"Ctrl-C, or `placewright stop {record.name}`"), color=True)
        sys.stdout.flush()


def launch_detached(wanted: Wanted, name: str) -> int:
    """Launches in a keeper, under this name or a fresh one; the exit code when all workers are ready."""
    from ..models.placements.plan_file import plan_to_json
    from ..runtime.detached.messages import Request, problem_to_text
    from ..runtime.detached.starting import detach
    from ..runtime.failure import LaunchFailed
    from ..runtime.world.matching import used_nodes

    request = Request(
        name=name or wanted.fresh_name(), file=wanted.file, plan=plan_to_json(wanted.plan), address=wanted.address, worker=wanted.worker,
        method=wanted.method, timeout=wanted.timeout, wait=wanted.wait, restarts=wanted.restarts, trusted_env=wanted.trusted_env, problem=problem_to_text(wanted.problem),
    )  # fmt: skip
    try:
        with shown_steps(wanted.progress) as told:
            record = detach(request, len(used_nodes(wanted.plan)), told)
    except LaunchFailed as problem:
        return failed(problem)
    click.echo(workers_table(record.workers))
    until = f"`{wanted.method}` has returned on every worker, or " if wanted.method else ""
    click.echo("\n" + runs(record, f"{until}`placewright stop {record.name}`"), color=True)
    return OK
