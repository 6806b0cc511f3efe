"""The workers of one component: one actor a process, each in its node's bundle, called together."""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

from ..models.machines.cluster import Cluster
from ..models.placements.placement import Placement
from .environment import configured
from .failure import failed
from .ray_compat import need_ray
from .reservation import Reservation
from .trouble import trouble
from .worker import Host


class WorkerGroup:
    """The started workers of one component, in rank order."""

    def __init__(self, component: str, placements: Sequence[Placement]) -> None:
        self.component = component
        self.placements = list(placements)
        self.hosts: list[Any] = []

    @property
    def world_size(self) -> int:
        """How many processes the component has."""
        return len(self.placements)

    def create(self, job: str, namespace: str, cluster: Cluster, reservation: Reservation, paths: Sequence[str]) -> None:
        """Asks Ray for every actor at once, without waiting for any. Actor names are ``{job}/{component}/{rank}``.

        An actor asks for no resource: its node's bundle holds them, so any number of workers may share an accelerator.
        """
        ray = need_ray()
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        remote = ray.remote(Host)
        for placement in self.placements:
            variables = configured(cluster, placement)
            options = remote.options(
                name=f"{job}/{self.component}/{placement.rank}", namespace=namespace,
                num_cpus=0, num_gpus=0, max_restarts=0, max_task_retries=0,
                scheduling_strategy=PlacementGroupSchedulingStrategy(reservation.group, reservation.index[placement.node_rank]),
                runtime_env={"env_vars": variables} if variables else None,
            )  # fmt: skip
            self.hosts.append(options.remote(list(paths)))

    def call(self, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method of the user's class on every worker; the results in rank order.

        Raises LaunchFailed at the first worker that raises (PW709) or dies (PW704), however long the others would take,
        and (PW705) if some have not answered within `timeout` s.
        """
        return call_all({self.component: self}, method, arguments, named, timeout)[self.component]

    def kill(self) -> None:
        """Ends every worker. May be called twice."""
        hosts, self.hosts = self.hosts, []
        ray = need_ray()
        for host in hosts:
            ray.kill(host, no_restart=True)


def call_all(
    groups: Mapping[str, WorkerGroup], method: str, arguments: tuple[Any, ...] = (), named: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> dict[str, list[Any]]:  # fmt: skip
    """Calls a method on every worker of several groups at once; component -> the results in rank order. Raises as `call`."""
    pending: dict[Any, tuple[WorkerGroup, int]] = {}
    for group in groups.values():
        for rank, host in enumerate(group.hosts):
            pending[host.invoke.remote(method, arguments, dict(named or {}))] = group, rank
    results: dict[str, list[Any]] = {name: [None] * group.world_size for name, group in groups.items()}
    deadline = None if timeout is None else time.monotonic() + timeout
    while pending:
        reference = next_done(pending, deadline)
        if reference is None:
            raise late(pending.values(), f"have not answered `{method}` within {timeout:g} s")
        group, rank = pending.pop(reference)
        results[group.component][rank] = outcome(reference, group, rank, f"ran `{method}`")
    return results


def next_done(pending: Mapping[Any, object], deadline: float | None) -> Any:
    """The next reference with an outcome, of whichever worker; None if there is none by the deadline (monotonic seconds)."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    done, _ = need_ray().wait(list(pending), num_returns=1, timeout=left)
    return done[0] if done else None


def outcome(reference: Any, group: WorkerGroup, rank: int, doing: str) -> Any:
    """The result of a reference that is done. Raises LaunchFailed if it is an error."""
    ray = need_ray()
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as problem:
        raise trouble(problem, group.component, rank, group.placements[rank].node_id, doing) from None


def late(waiting: Any, what: str) -> Exception:
    """The failure (PW705) that names the ranks which are waited for."""
    from ..models.placements.ranks import merge, write_ranks

    ranks: dict[str, list[range]] = {}
    for group, rank in waiting:
        ranks.setdefault(group.component, []).append(range(rank, rank + 1))
    names = {component: write_ranks(merge(its)) for component, its in ranks.items()}
    who = ", ".join(f"`{component}` {text}" for component, text in names.items())
    help = "give more time with `--timeout`, or look into the constructor of the worker class"
    return failed("PW705", ", ".join(names), f"ranks {who} {what}", help, *names.values())
