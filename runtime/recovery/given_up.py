"""End of a launch without recovery."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.finding import Finding, error
from ..failure import LaunchFailed

NOT_RECOVERED = "PW714"
NO_ROOM_HELP = "give ranges such as `8-16` where fewer do as well, or keep a node free"
SPENT_HELP = "mend what was lost, or allow more restarts (`--restarts`)"


def given_up(failure: LaunchFailed, why: str, help: str, reasons: Sequence[Finding] = ()) -> LaunchFailed:
    """Build the final failure (PW714): the loss, and why it cannot be replaced."""
    return LaunchFailed(*failure.findings, *reasons, error(NOT_RECOVERED, "", f"the launch is not recovered: {why}", help=help))
