"""A reservation in Ray: one placement group, each bundle pinned to its node."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Sequence

from ..failure import LaunchFailed, failed
from ..port.port import CREATED, INFEASIBLE, PENDING, REMOVED, Hold, NameTaken, Port
from ..shield import shielded
from .shortage import NodeDemand, is_hopeless, shortages

WAIT_LIMIT = 0.6
"""Seconds after which a shortage counts: just released resources appear as free a little later."""
DECISION_LIMIT = 30.0
"""Seconds for Ray to decide on a request: longer than WAIT_LIMIT, for a busy Ray."""
ATTEMPTS = 2
"""Number of attempts to release: nothing may stay reserved, whatever else failed."""
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.1


class Reservation:
    """Resources of some nodes, reserved all or none, visible as taken to other jobs.

    Bundle i of the group is `wanted[i]`. Releasing it ends every worker in it. `detached`: it
    outlives this process.
    """

    def __init__(self, port: Port, name: str, wanted: Sequence[NodeDemand], detached: bool = False) -> None:
        self.port = port
        self.name = name
        self.wanted = tuple(wanted)
        self.detached = detached
        self.hold: Hold = None

    def acquire(self, limit: float = WAIT_LIMIT) -> None:
        """Reserve everything.

        Raises LaunchFailed: PW702 with a finding per node that stays short for `limit` s, at once
        if waiting is pointless; PW717 if a reservation of that name exists. While a node is short,
        nothing is requested from Ray, so that unusable resources stay free for others.
        """
        deadline, pause = self.port.now() + limit, FIRST_PAUSE
        while short := list(shortages(self.port, self.wanted, limit)):
            if self.port.now() > deadline or is_hopeless(self.port, self.wanted):
                raise LaunchFailed(*short)
            self.port.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        with shielded():
            try:
                self.hold = self.port.hold(self.name, [want.bundle for want in self.wanted], self.detached)
            except NameTaken:
                message = f"there is a reservation `{self.name}` already"
                raise failed("PW717", self.name, message, "release the other, or give another name") from None
        deadline, pause = max(deadline, self.port.now() + WAIT_LIMIT), FIRST_PAUSE
        while (state := self.port.state(self.hold)) != CREATED:
            if state in (INFEASIBLE, REMOVED) or self.port.now() > deadline + (DECISION_LIMIT if state == PENDING else 0):
                raise self._short(state, limit)
            self.port.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def release(self) -> None:
        """Release everything, ending all processes in it; retry after a failure. Idempotent."""
        with shielded(), ExitStack() as attempts:
            for _ in range(ATTEMPTS):
                attempts.callback(self._give_back)

    def _give_back(self) -> None:
        if self.hold is not None:
            self.port.release(self.hold)
            self.hold = None

    def _short(self, state: str, limit: float) -> LaunchFailed:
        """Explain the shortage per node, from the numbers that Ray decided on."""
        findings = list(shortages(self.port, self.wanted, limit))
        if findings:
            return LaunchFailed(*findings)
        seconds = max(limit, WAIT_LIMIT) + (DECISION_LIMIT if state == PENDING else 0)
        message = f"Ray calls the reservation {state.lower()} after {seconds:g} s, though every node has enough"
        return failed("PW702", "", message, "try again: the cluster was changing")
