"""Verb `placewright stop`: end a detached launch."""

from __future__ import annotations

import click

from .exit_codes import OK
from .launching import print_failure

_BEFORE = {"ended": "had ended", "failed": "had failed", "lost": "was lost"}


@click.command()
@click.argument("name")
def stop(name: str) -> int:
    """End the launch NAME; returns when nothing of it is left.

    For a launch that has ended or failed, only its record is removed.

    \b
    placewright stop trial
    """
    from ..runtime.detached.launches import stop as ended
    from ..runtime.failure import LaunchFailed

    try:
        launch = ended(name)
    except LaunchFailed as problem:
        return print_failure(problem, "not stopped")
    click.echo(
        f"`{name}` has ended: nothing is left running"
        if launch.alive
        else f"`{name}` {_BEFORE[launch.state]} before; its record is removed"
    )
    return OK
