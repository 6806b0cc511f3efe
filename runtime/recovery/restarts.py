"""Number of restarts, and the pauses before them."""

from __future__ import annotations

from ..failure import LaunchFailed
from ..port.port import Port
from .given_up import SPENT_HELP, given_up

LONGEST_PAUSE = 30.0
STEADY = 60.0
"""Seconds after which a launch counts as running: the next restart is again the first in a row."""


class Restarts:
    """Restarts of a launch: `allowed` in total, `used` so far."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.used = self._in_a_row = 0
        self._started = 0.0

    def started(self, now: float) -> None:
        """Record that all workers run."""
        self._started = now

    def failed(self, now: float) -> None:
        """Record a loss."""
        if now - self._started > STEADY:
            self._in_a_row = 0

    def take(self, port: Port, failure: LaunchFailed) -> None:
        """Pause, and count a restart. Raises LaunchFailed, with PW714, if none is left."""
        if self.used >= self.allowed:
            raise given_up(failure, self._spent, SPENT_HELP)
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
