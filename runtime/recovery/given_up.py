"""The end of a launch that is not brought back."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.finding import Finding, error
from ..failure import LaunchFailed

NOT_RECOVERED = "PW714"
NO_ROOM_HELP = "give ranges such as `8-16` where fewer do as well, or keep a node free"
SPENT_HELP = "mend what was lost, or allow more restarts (`--restarts`)"


def given_up(failure: LaunchFailed, why: str, help: str, reasons: Sequence[Finding] = ()) -> LaunchFailed:
    """What was lost, why it cannot be replaced, and that it is the end (PW714)."""
    return LaunchFailed(*failure.findings, *reasons, error(NOT_RECOVERED, "", f"the launch is not recovered: {why}", help=help))
