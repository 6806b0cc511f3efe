"""The start of all components together: every worker of every one, or none."""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

from ..models.placements.plan import Plan
from .connection import NAMESPACE
from .environment import rank_environment
from .group import WorkerGroup, late, next_done, outcome
from .matching import Match
from .ray_compat import actor_names
from .reservation import Reservation
from .shield import shielded
from .trouble import STARTING, unimportable
from .worker import UNIMPORTABLE

GONE_LIMIT = 5.0
Report = dict[str, Any]


class Gang:
    """The workers of a plan, started all or none."""

    def __init__(self, job: str, plan: Plan, matches: Mapping[int, Match], reservation: Reservation) -> None:
        self.job = job
        self.plan = plan
        self._matches = matches
        self._reservation = reservation
        self.groups = {name: WorkerGroup(name, plan.placements(name)) for name in plan.components}

    def start(self, worker: str | type, paths: Sequence[str], timeout: float) -> dict[str, list[Report]]:
        """Starts every worker and returns what each reports of itself, by component and rank.

        Everything is asked of Ray at once. A worker constructs the user's class when rank 0 of its component is born,
        because that one finds the port on which they meet. The first failure of any worker ends the start.
        Raises LaunchFailed: PW703, PW704, PW705, PW707.
        """
        deadline = time.monotonic() + timeout
        pending: dict[Any, tuple[WorkerGroup, int]] = {}
        for group in self.groups.values():
            group.create(self.job, NAMESPACE, self.plan.cluster, self._reservation, paths)
            pending |= self._construct(group, worker)
        reports: dict[str, list[Report]] = {name: [{}] * group.world_size for name, group in self.groups.items()}
        while pending:
            reference = next_done(pending, deadline)
            if reference is None:
                raise late(pending.values(), f"were not ready within {timeout:g} s")
            group, rank = pending.pop(reference)
            result = outcome(reference, group, rank, STARTING)
            if UNIMPORTABLE in result:
                raise unimportable(worker, group.component, rank, group.placements[rank].node_id, result[UNIMPORTABLE])
            if "environment" in result:
                reports[group.component][rank] = result
        return reports

    def _construct(self, group: WorkerGroup, worker: str | type) -> dict[Any, tuple[WorkerGroup, int]]:
        """The references to wait for. The birth of rank 0 comes first, so that its failure is not laid on those that wait."""
        master = self._matches[group.placements[0].node_rank].ray.address
        birth = group.hosts[0].born.remote()
        pending = {birth: (group, 0)}
        for placement, host in zip(group.placements, group.hosts):
            variables = rank_environment(group.component, placement, group.world_size, master)
            pending[host.construct.remote(worker, variables, birth)] = group, placement.rank
        return pending

    def kill(self) -> None:
        """Ends every worker and returns when Ray has forgotten their names. May be called twice."""
        with shielded():
            if not any(group.hosts for group in self.groups.values()):
                return
            for group in self.groups.values():
                group.kill()
            self._reservation.release()
            deadline = time.monotonic() + GONE_LIMIT
            while time.monotonic() < deadline and any(name.startswith(f"{self.job}/") for name in actor_names(NAMESPACE)):
                time.sleep(0.01)
