"""The start of several groups together: every worker of every one, or none."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, Mapping, Sequence

from ..port.port import Port
from ..progress import OnStep, Step, silent
from ..reserving.reservation import Reservation
from ..shield import shielded
from .group import Pending, WorkerGroup
from .inside.host import UNIMPORTABLE
from .trouble import STARTING, unimportable
from .waiting import as_done

GONE_LIMIT = 5.0
Report = dict[str, Any]
Reports = dict[str, list[Report]]
"""What each worker says of itself: by component, in rank order."""
Up = dict[str, tuple[int, int]]
"""Component -> (workers that have reported, workers in all)."""


def _trusted(reports: Reports) -> None:
    """Whatever they say is right."""


def _told(progress: OnStep, words: str, up: Up) -> None:
    progress(Step(words, up))


class Gang:
    """Groups that start all or none in one reservation. `bundles`: node rank -> its bundle there."""

    def __init__(self, port: Port, reservation: Reservation, bundles: Mapping[int, int], groups: Sequence[WorkerGroup]) -> None:
        self.port = port
        self._reservation = reservation
        self._bundles = dict(bundles)
        self.groups = {group.component: group for group in groups}

    def start(
        self, paths: Sequence[str], timeout: float, progress: OnStep = silent, settled: Callable[[Reports], object] = _trusted
    ) -> Reports:
        """Starts every worker and returns what each reports of itself when its object is constructed.

        Everything is asked at once. Each worker first sets its environment and reports what it sees; `settled` is told when all
        have, and whatever it raises ends the start before any code of the user's class has run. Then all construct their objects,
        as soon as rank 0 of their component has found the port on which they meet. The first failure of any worker ends the start,
        and all workers with it. Raises LaunchFailed: PW703, PW704, PW705, PW707, PW717.
        """
        try:
            return self._started(paths, timeout, progress, settled)
        except BaseException:
            self.kill()
            raise

    def _started(self, paths: Sequence[str], timeout: float, progress: OnStep, settled: Callable[[Reports], object]) -> Reports:
        deadline = self.port.now() + timeout
        pending: Pending = {}
        for group in self.groups.values():
            group.create(self._reservation.hold, self._bundles, paths)
            pending |= {ticket: (group, rank) for ticket, rank in group.settle().items()}
        settled(self._reports(pending, deadline, timeout, partial(_told, progress, "starting")))
        pending = {ticket: (group, rank) for group in self.groups.values() for ticket, rank in group.construct().items()}
        return self._reports(pending, deadline, timeout, partial(_told, progress, "constructing"))

    def _reports(self, pending: Pending, deadline: float, timeout: float, told: Callable[[Up], None]) -> Reports:
        reports: Reports = {name: [{}] * group.world_size for name, group in self.groups.items()}
        up = {name: (0, group.world_size) for name, group in self.groups.items()}
        told(up)
        for group, rank, ticket in as_done(pending, max(0.0, deadline - self.port.now()), f"were not ready within {timeout:g} s"):
            result = group.answer(ticket, rank, STARTING)
            if UNIMPORTABLE in result:
                raise unimportable(group.worker, group.component, rank, group.members[rank].placement.node_id, result[UNIMPORTABLE])
            if "environment" in result:
                reports[group.component][rank] = result
                up = up | {group.component: (up[group.component][0] + 1, group.world_size)}
                told(up)
        return reports

    def kill(self) -> None:
        """Ends every worker and returns when their names are free again; what is held stays held. May be called twice."""
        with shielded():
            names = {member.name for group in self.groups.values() for member, _ in zip(group.members, group.workers)}
            if not names:
                return
            for group in self.groups.values():
                group.kill()
            deadline = self.port.now() + GONE_LIMIT
            while self.port.now() < deadline and names & self.port.names():
                self.port.pause(0.01)
