"""Joint start of several groups: all workers or none."""

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
"""Reports of the workers: by component, in rank order."""
Up = dict[str, tuple[int, int]]
"""Component -> (reported workers, all workers)."""


def _accept_all(reports: Reports) -> None:
    """Accept all reports."""


def _told(progress: OnStep, words: str, up: Up) -> None:
    progress(Step(words, up))


class Gang:
    """Groups that start all or none in a common reservation. `bundles`: node rank -> bundle."""

    def __init__(self, port: Port, reservation: Reservation, bundles: Mapping[int, int], groups: Sequence[WorkerGroup]) -> None:
        self.port = port
        self._reservation = reservation
        self._bundles = dict(bundles)
        self.groups = {group.component: group for group in groups}

    def start(
        self, paths: Sequence[str], timeout: float, progress: OnStep = silent, settled: Callable[[Reports], object] = _accept_all
    ) -> Reports:
        """Start every worker and return the reports of the constructed workers.

        All workers start at once. Each sets its environment and reports what it sees; `settled`
        gets all these reports, and an exception of it ends the start before any code of the user's
        class has run. Then all construct their objects, as soon as rank 0 of their component has
        found the rendezvous port. The first failure of any worker ends the start and all workers.
        Raises LaunchFailed: PW703, PW704, PW705, PW707, PW717.
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

    def _reports(self, pending: Pending, deadline: float, timeout: float, report_progress: Callable[[Up], None]) -> Reports:
        reports: Reports = {name: [{}] * group.world_size for name, group in self.groups.items()}
        up = {name: (0, group.world_size) for name, group in self.groups.items()}
        report_progress(up)
        for group, rank, ticket in as_done(pending, max(0.0, deadline - self.port.now()), f"were not ready within {timeout:g} s"):
            result = group.answer(ticket, rank, STARTING)
            if UNIMPORTABLE in result:
                raise unimportable(group.worker, group.component, rank, group.members[rank].placement.node_id, result[UNIMPORTABLE])
            if "environment" in result:
                reports[group.component][rank] = result
                up = up | {group.component: (up[group.component][0] + 1, group.world_size)}
                report_progress(up)
        return reports

    def kill(self) -> None:
        """End every worker and return when the names are free; the reservation stays.

        Idempotent.
        """
        with shielded():
            names = {member.name for group in self.groups.values() for member, _ in zip(group.members, group.workers)}
            if not names:
                return
            for group in self.groups.values():
                group.kill()
            deadline = self.port.now() + GONE_LIMIT
            while self.port.now() < deadline and names & self.port.names():
                self.port.pause(0.01)
