"""What is held in Ray: one placement group, each bundle pinned to its node, all or none."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Sequence

from ..failure import LaunchFailed, failed
from ..port.errors import NameTaken
from ..port.port import CREATED, INFEASIBLE, PENDING, REMOVED, Hold, Port
from ..shield import shielded
from .shortage import is_hopeless, shortages
from .wanted import Wanted

WAIT_LIMIT = 0.6
"""Seconds after which what is short counts as short: what was just released is seen as free a little later."""
DECISION_LIMIT = 30.0
"""Seconds for Ray to decide on what is asked of it: where it is busy, longer than for what is short to become free."""
ATTEMPTS = 2
"""How often what is held is given back, should that fail: whatever else went wrong, nothing may stay held."""
FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.1


class Reservation:
    """Resources of some nodes, held all or none, and visible as taken to every other job of the Ray cluster.

    Bundle i of the group is `wanted[i]`. Releasing it ends every worker in it. `detached`: it stays when this process ends.
    """

    def __init__(self, port: Port, name: str, wanted: Sequence[Wanted], detached: bool = False) -> None:
        self.port = port
        self.name = name
        self.wanted = tuple(wanted)
        self.detached = detached
        self.hold: Hold = None

    def acquire(self, limit: float = WAIT_LIMIT) -> None:
        """Returns when everything is held.

        Raises LaunchFailed: PW702 with a finding for each node that stays short for `limit` s, at once where waiting is in vain;
        PW717 if there is a reservation of that name.

        Nothing is asked of Ray while a node is short, so that this never keeps from others what it cannot use.
        """
        deadline, pause = self.port.now() + limit, FIRST_PAUSE
        while short := list(shortages(self.port, self.wanted, limit)):
            if self.port.now() > deadline or is_hopeless(self.port, self.wanted):
                raise LaunchFailed(*short)
            self.port.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        with shielded():
            try:
                self.hold = self.port.hold(self.name, [each.bundle for each in self.wanted], self.detached)
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
        """Gives everything back at once, ending whatever still runs in it; tries again where that fails. May be called twice."""
        with shielded(), ExitStack() as attempts:
            for _ in range(ATTEMPTS):
                attempts.callback(self._give_back)

    def _give_back(self) -> None:
        if self.hold is not None:
            self.port.release(self.hold)
            self.hold = None

    def _short(self, state: str, limit: float) -> LaunchFailed:
        """Which nodes lack what, from the same numbers that Ray decided on."""
        findings = list(shortages(self.port, self.wanted, limit))
        if findings:
            return LaunchFailed(*findings)
        after = max(limit, WAIT_LIMIT) + (DECISION_LIMIT if state == PENDING else 0)
        why = f"Ray calls the reservation {state.lower()} after {after:g} s, though every node has enough"
        return failed("PW702", "", why, "try again: the cluster was changing")
