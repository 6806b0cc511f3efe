"""Restarts of a launch: which failures allow one, how many, and the pauses between."""

from __future__ import annotations

from typing import Sequence

from ...models.findings.finding import Finding, error
from ..failure import LaunchFailed
from ..port.port import Port

LOST = frozenset({"PW704", "PW713"})
"""Codes of a dead worker and of a lost node."""
NO_ROOM = "PW702"
"""Code of a cluster that differs from the plan or lacks capacity: capacity elsewhere may
suffice.
"""


def is_lost(failure: LaunchFailed) -> bool:
    """Return True if a restart can repair the failure, unless the launch is given up."""
    codes = {finding.code for finding in failure.findings}
    return bool(codes & LOST) and NOT_RECOVERED not in codes


def is_lost_again(failure: LaunchFailed) -> bool:
    """Return True if a further restart can repair a failed restart, also by capacity elsewhere."""
    codes = [finding.code for finding in failure.findings]
    return is_lost(failure) or (codes[0] == NO_ROOM and NOT_RECOVERED not in codes)


def with_lost(failure: LaunchFailed, names: Sequence[str]) -> LaunchFailed:
    """Add the lost nodes that a failure does not name: several may be lost one after the other."""
    others_lost = [name for name in names if not any(f"`{name}`" in finding.message for finding in failure.findings)]
    more = [error("PW713", name, f"node `{name}` is lost", help="start the node again", amount=1) for name in others_lost]
    return LaunchFailed(*failure.findings, *more, traceback=failure.traceback)


LONGEST_PAUSE = 30.0
STEADY = 60.0
"""Seconds after which a launch counts as running: the next restart is again the first in a row."""


class Restarts:
    """Restarts of a launch: `allowed` in total, `used` so far."""

    def __init__(self, limit: int) -> None:
        self.allowed = limit
        self.used = self._in_a_row = 0
        self._started = 0.0

    def record_start(self, now: float) -> None:
        """Record that all workers run."""
        self._started = now

    def record_failure(self, now: float) -> None:
        """Record a loss."""
        if now - self._started > STEADY:
            self._in_a_row = 0

    def take(self, port: Port, failure: LaunchFailed) -> None:
        """Pause, and count a restart. Raises LaunchFailed, with PW714, if none is left."""
        if self.used >= self.allowed:
            raise final_failure(failure, self._spent, SPENT_HELP)
        port.pause(pause_before(self._in_a_row))
        self.used += 1
        self._in_a_row += 1

    def __str__(self) -> str:
        return f"restart {self.used} of {self.allowed}"

    @property
    def _spent(self) -> str:
        often = "once" if self.allowed == 1 else f"{self.allowed} times"
        return f"it was restarted {often}, as often as it may be" if self.allowed else "it may not be restarted"


def pause_before(in_a_row: int) -> float:
    """Return the pause in seconds: 0 before the first restart, then 1, 2, 4, up to 30."""
    return 0.0 if not in_a_row else min(LONGEST_PAUSE, 2.0 ** (in_a_row - 1))


NOT_RECOVERED = "PW714"
NO_ROOM_HELP = "give ranges such as `8-16` where fewer do as well, or keep a node free"
SPENT_HELP = "repair what was lost, or allow more restarts (`--restarts`)"


def final_failure(failure: LaunchFailed, why: str, help: str, reasons: Sequence[Finding] = ()) -> LaunchFailed:
    """Build the final failure (PW714): the loss, and why it cannot be replaced."""
    return LaunchFailed(*failure.findings, *reasons, error(NOT_RECOVERED, "", f"the launch is not recovered: {why}", help=help))
