"""`placewright stop`: end a launch that runs on after its command has ended."""

from __future__ import annotations

import click

from .exit_codes import OK
from .launching.outcome import failed

_BEFORE = {"ended": "had ended", "failed": "had failed", "lost": "was lost"}


@click.command()
@click.argument("name")
def stop(name: str) -> int:
    """End the launch NAME; returns when nothing of it is left.

    Of a launch that has ended or failed already, the record is removed.

    \b
    placewright stop trial
    """
    from ..runtime.detached.asking import stop as ended
    from ..runtime.failure import LaunchFailed

    try:
        seen = ended(name)
    except LaunchFailed as problem:
        return failed(problem, "not stopped")
    click.echo(
        f"`{name}` has ended: nothing is left running" if seen.alive else f"`{name}` {_BEFORE[seen.state]} before; its record is removed"
    )
    return OK
