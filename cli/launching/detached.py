"""A launch in a keeper, which lives on when the command has ended."""

from __future__ import annotations

import click

from ..exit_codes import OK
from ..showing.steps import shown_steps
from .outcome import failed, not_checked, runs, workers_and_given
from .wanted import LaunchOptions


def name_refused(name: str) -> int:
    """Check that a launch can take this name; return the exit code.

    Called before a long search. Prints the reason of a refusal.
    """
    from ...runtime.detached.record import check_free
    from ...runtime.failure import LaunchFailed

    try:
        check_free(name)
    except LaunchFailed as problem:
        return failed(problem)
    return OK


def launch_detached(wanted: LaunchOptions, name: str) -> int:
    """Launch in a keeper, under this name or a fresh name; return the exit code."""
    from ...models.placements.plan_file import plan_to_json
    from ...runtime.detached.launches import detach
    from ...runtime.detached.messages import LaunchRequest, problem_to_text, reading_to_text
    from ...runtime.failure import LaunchFailed
    from ...runtime.world.matching import used_nodes

    request = LaunchRequest(
        name=name or wanted.fresh_name(), file=wanted.file, plan=plan_to_json(wanted.plan), address=wanted.address, worker=wanted.worker,
        method=wanted.method, timeout=wanted.timeout, wait=wanted.wait, restarts=wanted.restarts, trusted_env=wanted.trusted_env, problem=problem_to_text(wanted.problem),
        reading=reading_to_text(wanted.reading), share_nodes=wanted.share_nodes, elastic=wanted.elastic,
    )  # fmt: skip
    try:
        with shown_steps(wanted.progress) as steps:
            record = detach(request, len(used_nodes(wanted.plan)), steps)
    except LaunchFailed as problem:
        return failed(problem)
    click.echo(workers_and_given(record.workers, record.given))
    if unseen := not_checked(record):
        click.echo(unseen)
    until = f"`{wanted.method}` has returned on every worker, or " if wanted.method else ""
    click.echo("\n" + runs(record, f"{until}`placewright stop {record.name}`"), color=True)
    return OK
