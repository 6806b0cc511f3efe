"""The start of several groups together: every worker of every one, or none."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ..port.port import Port
from ..progress import OnStep, Step, silent
from ..reserving.reservation import Reservation
from ..shield import shielded
from .group import Pending, WorkerGroup, as_done
from .trouble import STARTING, unimportable
from .worker import UNIMPORTABLE

GONE_LIMIT = 5.0
Report = dict[str, Any]


class Gang:
    """Groups that start all or none in one reservation. `bundles`: node rank -> its bundle there."""

    def __init__(self, port: Port, reservation: Reservation, bundles: Mapping[int, int], groups: Sequence[WorkerGroup]) -> None:
        self.port = port
        self._reservation = reservation
        self._bundles = dict(bundles)
        self.groups = {group.component: group for group in groups}
        self._names = {member.name for group in groups for member in group.members}

    def start(self, paths: Sequence[str], timeout: float, progress: OnStep = silent) -> dict[str, list[Report]]:
        """Starts every worker and returns what each reports of itself, by component and rank.

        Everything is asked at once. A worker constructs the user's class when rank 0 of its component is born,
        because that one finds the port on which they meet. The first failure of any worker ends the start.
        Raises LaunchFailed: PW703, PW704, PW705, PW707.
        """
        pending: Pending = {}
        for group in self.groups.values():
            group.create(self._reservation.hold, self._bundles, paths)
            pending |= {ticket: (group, rank) for ticket, rank in group.construct().items()}
        reports: dict[str, list[Report]] = {name: [{}] * group.world_size for name, group in self.groups.items()}
        up = {name: (0, group.world_size) for name, group in self.groups.items()}
        progress(Step("starting", up))
        for group, rank, ticket in as_done(pending, timeout, "were not ready"):
            result = group.answer(ticket, rank, STARTING)
            if UNIMPORTABLE in result:
                raise unimportable(group.worker, group.component, rank, group.members[rank].placement.node_id, result[UNIMPORTABLE])
            if "environment" in result:
                reports[group.component][rank] = result
                up = up | {group.component: (up[group.component][0] + 1, group.world_size)}
                progress(Step("starting", up))
        return reports

    def kill(self) -> None:
        """Ends every worker and returns when their names are free again; what is held stays held. May be called twice."""
        with shielded():
            if not any(group.workers for group in self.groups.values()):
                return
            for group in self.groups.values():
                group.kill()
            deadline = self.port.now() + GONE_LIMIT
            while self.port.now() < deadline and self._names & self.port.names():
                self.port.pause(0.01)
