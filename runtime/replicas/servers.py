"""Servers of a replica as processes: a server per node, in its workers' bundle, all or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Sequence

from ..compat.verl.pool import Seat
from ..compat.verl.processes import PoolProcesses, placements_on
from ..failure import LaunchFailed, build_failure
from ..port.port import Actor, Port, gather
from ..shield import defer_signals
from ..workers.group import Gang, WorkerGroup
from ..workers.member import Member, rank_environment
from .server import END_LIMIT, ReplicaServer
from .settings import ServerSettings

ASK_LIMIT = 30.0
CONCURRENCY = 256
"""Number of simultaneous calls of a server, each with a thread: a trainer generates by handle."""
ACCESS = ("get_zeromq_address", "get_zeromq_key")


class Servers:
    """Server actors of a replica, which see the accelerators of the node's workers."""

    def __init__(self, port: Port, component: str, node_seats: Sequence[Sequence[Seat]], settings: Sequence[ServerSettings]) -> None:
        self._limits = settings[0].limits
        first = [seats[0] for seats in node_seats]
        members = []
        for rank, (seats, server_settings) in enumerate(zip(node_seats, settings)):
            worker_placements = placements_on(seats, True)
            placement = replace(
                worker_placements[0], rank=rank, placement_node_rank=rank, local_world_size=1,
                visible_accelerators=tuple(accelerator for worker_placement in worker_placements for accelerator in worker_placement.visible_accelerators),
                local_hardware_ranks=tuple(accelerator for worker_placement in worker_placements for accelerator in worker_placement.local_hardware_ranks),
            )  # fmt: skip
            environment = rank_environment(component, placement, len(node_seats), first[0].node.address)
            members.append(Member(placement, f"{component}_{rank}", environment, arguments=(server_settings,)))
        self._group = PoolProcesses(port, component, members, ReplicaServer, first, CONCURRENCY, None)
        self._gang = Gang(port, first[0].reservation, {seat.node_rank: seat.bundle for seat in first}, [self._group])

    @property
    def handles(self) -> list[Actor]:
        """Actors of the servers, the master first."""
        return list(self._group.workers)

    def launch(self) -> tuple[str, int]:
        """Start the servers; return the HTTP (ip, port). LaunchFailed: PW742, as Gang.start."""
        self._gang.start(self._limits.start_seconds)
        try:
            address, ports = self._group.on(0).call("get_master_address", timeout=ASK_LIMIT)[0]
            later = self._group.ranks[1:]
            headless = self._group.on(later).call("get_access", timeout=ASK_LIMIT) if later else []
            limit = self._limits.load_seconds + self._limits.join_seconds
            self._group.call("launch_server", address, ports, headless, timeout=limit)
            host, number = self._group.on(0).call("get_server_address", timeout=ASK_LIMIT)[0]
        except LaunchFailed as problem:
            if problem.findings[0].code != "PW709":
                raise
            pid, log = self._group.on(int(problem.findings[0].witnesses[0])).call("get_log", timeout=ASK_LIMIT)[0]
            message = f"a server of `{self._group.component}` (process {pid}) did not start: {problem.findings[0].message}"
            help = f"read {log} on that node; leave `port` out for any that is free; look at the network between the nodes"
            raise build_failure("PW742", self._group.component, message, help, pid, log, traceback=problem.traceback) from problem
        return str(host), int(number)

    def ask(self, method: str, limit: float = ASK_LIMIT) -> list[Any]:
        """Call a method of every server and return the answers in node order."""
        return self._group.call(method, timeout=limit)

    def kill(self) -> None:
        """End the servers at once, even during their launch, which then fails."""
        self._gang.kill()

    def close(self) -> None:
        """End the servers after a short grace period. Idempotent."""
        with defer_signals():
            if not self._group.workers:
                return
            tickets = {self._group.request(rank, "shutdown", (), {}): rank for rank in self._group.ranks}
            for _ in gather(self._group.port, tickets, END_LIMIT):
                pass
            self._gang.kill()


def access(group: WorkerGroup, ranks: Sequence[int], towards: str) -> list[tuple[str, str]]:
    """Return (ZeroMQ address, key) of workers; `towards`: another node from which they are called, or ""."""
    address, key = (group.on(ranks).call(method, towards, timeout=ASK_LIMIT) for method in ACCESS)
    return list(zip(address, key))
