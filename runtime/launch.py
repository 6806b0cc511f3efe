"""A plan, running: its workers on a real or a simulated Ray cluster for as long as the `with` block lasts."""

from __future__ import annotations

import os
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Collection, Iterator, Mapping

from ..models.findings.finding import Unchecked
from ..models.placements.plan import Plan
from ..models.placements.reserved import cpus_on_nodes
from .failure import LaunchFailed, failed
from .port.connection import Connection, must_be_unconnected
from .port.on_ray import RayPort
from .port.port import Port
from .port.ray_compat import send_by_value
from .progress import OnStep, Step, silent
from .reserving.reservation import WAIT_LIMIT, Reservation
from .reserving.wanted import wanted_of
from .shield import shielded
from .simulated.simulate import SimulatedCluster
from .unchecked import unchecked
from .watching.audit import AuditRow, audit, findings
from .workers import base
from .workers import worker as host
from .workers.gang import Gang, Reports
from .workers.group import WorkerGroup, call_all
from .workers.member import members_of
from .workers.trust import untrusted
from .workers.worker_class import check_worker
from .world.interpreters import check_interpreters
from .world.inventory import inventory
from .world.matching import match, used_nodes

TIMEOUT = 300.0
ATTEMPTS = 2
"""How often what is held is given back, should that fail: whatever else went wrong, nothing may stay held."""


@dataclass(frozen=True)
class Launch:
    """The workers of a plan, started and audited.

    Attributes
    ----------
    plan : what was launched.
    groups : component -> its workers.
    audit : where each worker really is, one row a process.
    unchecked : what the plan asks of its nodes that a launch does not bring about.
    address : HOST:PORT of the Ray cluster.
    """

    plan: Plan
    groups: Mapping[str, WorkerGroup]
    audit: tuple[AuditRow, ...]
    unchecked: tuple[Unchecked, ...]
    address: str
    _stack: ExitStack

    def call(self, component: str, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> list[Any]:
        """Calls a method on every worker of a component; see WorkerGroup.call."""
        return self.groups[component].call(method, *arguments, timeout=timeout, **named)

    def call_all(self, method: str, *arguments: Any, timeout: float | None = None, **named: Any) -> dict[str, list[Any]]:
        """Calls a method on every worker of every component at once; component -> results in rank order."""
        return call_all(self.groups, method, arguments, named, timeout)

    def stop(self) -> None:
        """Ends everything now. The end of the `with` block does so too, and finds nothing left to do."""
        with shielded():
            self._stack.close()


@contextmanager
def launch(
    plan: Plan, *, address: str | None = None, simulate: bool = False, worker: str | type | None = None, timeout: float = TIMEOUT,
    trusted_env: Collection[str] = (), progress: OnStep = silent, wait: float = WAIT_LIMIT,
) -> Iterator[Launch]:  # fmt: skip
    """The workers of a plan, started all or none, each at its place, and ended with the block.

    Parameters
    ----------
    address : HOST:PORT of a Ray cluster that this machine is part of.
    simulate : start a Ray cluster on this machine with the plan's accelerators, none of which exists. Also what
        happens if no address is given.
    worker : the class of every worker, constructed without arguments, as `module:Class` or itself; one that only
        knows its environment if not given.
    timeout : seconds for all workers to be ready.
    trusted_env : variables that node groups may set although they can make a process run other code, such as PYTHONPATH.
    progress : told each step before it is taken, and of each worker that is ready (see progress.py).
    wait : seconds to wait for accelerators and CPUs that other jobs hold.

    Nothing is left when the block has ended, or was never entered: no actor, no placement group, no process.
    Raises LaunchFailed with what is wrong.
    """
    if address is not None and simulate:
        raise ValueError("either an address or simulate, not both")
    if not plan.cluster.counted:
        raise failed("PW011", "", "the plan does not say how many accelerators the nodes have", "name the machines with `--cluster`")
    distrusted = tuple(untrusted(plan, trusted_env))
    if distrusted:
        raise LaunchFailed(*distrusted)
    stack = ExitStack()
    try:
        progress(Step("checking the worker class"))
        yield _started(stack, plan, address, check_worker(worker), timeout, progress, wait)
    finally:
        with shielded():
            stack.close()


def _started(
    stack: ExitStack, plan: Plan, address: str | None, worker: str | type, timeout: float, progress: OnStep, wait: float
) -> Launch:
    """Every step says how it is undone before it is taken, so that an interrupt between two of them undoes both."""
    used = used_nodes(plan)
    if not used:
        raise failed("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        progress(Step(f"starting {len(used)} simulated nodes"))
        simulated = SimulatedCluster()
        stack.callback(simulated.stop)
        cpus = cpus_on_nodes(plan)
        room = {rank: max(processes, cpus.get(rank, 0)) for rank, processes in used.items()}
        address = simulated.start([plan.cluster.nodes[rank] for rank in used], room)
    progress(Step(f"connecting to {address}"))
    connection = Connection(address)
    stack.callback(connection.close)
    connection.open()
    send_by_value(host)
    send_by_value(base)
    return bring_up(stack, plan, RayPort(), worker, timeout, progress, address, wait)


def bring_up(
    stack: ExitStack, plan: Plan, port: Port, worker: str | type, timeout: float, progress: OnStep, address: str = "",
    wait: float = WAIT_LIMIT,
) -> Launch:  # fmt: skip
    """Matches, reserves, starts and audits, on whatever is behind the port; the stack undoes what was done."""
    progress(Step("reserving"))
    matches = match(plan, inventory(port))
    check_interpreters(port, plan, matches)
    job = f"placewright-{uuid.uuid4().hex[:8]}"
    cpus = cpus_on_nodes(plan)
    reservation = Reservation(port, job, [wanted_of(each, cpus.get(rank, 0)) for rank, each in matches.items()])
    for _ in range(ATTEMPTS):
        stack.callback(reservation.release)
    reservation.acquire(wait)
    groups = []
    for component in plan.components:
        first = plan.placements(component)[0].node_rank
        groups.append(WorkerGroup(port, component, members_of(plan, component, job, matches[first].ray.address), worker))
    gang = Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, groups)
    stack.callback(gang.kill)

    def audited(reports: Reports) -> tuple[AuditRow, ...]:
        rows = audit(plan, matches, reports)
        different = tuple(findings(rows))
        if different:
            raise LaunchFailed(*different)
        return rows

    rows = audited(gang.start([os.getcwd()], timeout, progress, audited))  # the constructors may change what is seen
    return Launch(plan, gang.groups, rows, unchecked(plan), address, stack)
