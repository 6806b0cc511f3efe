"""The start of all components together: every worker of every one, or none."""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

from ..models.plan import Plan
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

        A worker that is born waits for the port that rank 0 of its component has found, then constructs the user's class.
        The first failure of any worker ends the start. Raises LaunchFailed: PW703, PW704, PW705, PW707.
        """
        deadline = time.monotonic() + timeout
        for group in self.groups.values():
            group.create(self.job, NAMESPACE, self.plan.cluster, self._reservation, paths)
        reports: dict[str, list[Report]] = {name: [{}] * group.world_size for name, group in self.groups.items()}
        masters: dict[str, tuple[str, int]] = {}
        constructing: set[Any] = set()
        pending = {host.born.remote(): (group, rank) for group in self.groups.values() for rank, host in enumerate(group.hosts)}
        held: dict[str, list[int]] = {name: [] for name in self.groups}
        while pending:
            reference = next_done(pending, deadline)
            if reference is None:
                raise late(pending.values(), f"were not ready within {timeout:g} s")
            group, rank = pending.pop(reference)
            result = outcome(reference, group, rank, STARTING)
            if reference in constructing:
                if UNIMPORTABLE in result:
                    raise unimportable(worker, group.component, rank, group.placements[rank].node_id, result[UNIMPORTABLE])
                reports[group.component][rank] = result
                continue
            if rank == 0:
                masters[group.component] = self._matches[group.placements[0].node_rank].ray.address, int(result["port"])
            held[group.component].append(rank)
            if group.component in masters:
                for its in held[group.component]:
                    variables = rank_environment(group.component, group.placements[its], group.world_size, masters[group.component])
                    reference = group.hosts[its].construct.remote(worker, variables)
                    constructing.add(reference)
                    pending[reference] = group, its
                held[group.component] = []
        return reports

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
