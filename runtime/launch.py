"""A plan, running: its workers on a real or a simulated Ray cluster for as long as the `with` block lasts."""

from __future__ import annotations

import os
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Collection, Iterator, Mapping

from ..models.findings.finding import Unchecked
from ..models.placements.plan import Plan
from .audit import AuditRow, audit, findings
from .connection import Connection, must_be_unconnected
from .failure import LaunchFailed, failed
from .gang import Gang
from .group import WorkerGroup, call_all
from .inventory import inventory
from .matching import match, used_nodes
from .reservation import WAIT_LIMIT, Reservation
from .shield import shielded
from .simulate import SimulatedCluster
from .trust import untrusted
from .unchecked import unchecked
from .worker_class import check_worker

TIMEOUT = 300.0


def _silent(step: str) -> None:
    """Tells nobody."""


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
    trusted_env: Collection[str] = (), progress: Callable[[str], None] = _silent,
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
    progress : told each step in a few words before it is taken.

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
        progress("checking the worker class")
        yield _started(stack, plan, address, check_worker(worker), timeout, progress)
    finally:
        with shielded():
            stack.close()


def _started(
    stack: ExitStack, plan: Plan, address: str | None, worker: str | type, timeout: float, progress: Callable[[str], None]
) -> Launch:
    """Every step says how it is undone before it is taken, so that an interrupt between two of them undoes both."""
    used = used_nodes(plan)
    if not used:
        raise failed("PW112", "", "the plan places no process", "give its components ranks or hints")
    if address is None:
        must_be_unconnected()
        progress(f"starting {len(used)} simulated nodes")
        simulated = SimulatedCluster()
        stack.callback(simulated.stop)
        address = simulated.start([plan.cluster.nodes[rank] for rank in used], used)
    progress(f"connecting to {address}")
    connection = Connection(address)
    stack.callback(connection.close)
    connection.open()
    matches = match(plan, inventory())
    job = f"placewright-{uuid.uuid4().hex[:8]}"
    reservation = Reservation(job, matches)
    stack.callback(reservation.release)
    reservation.acquire(min(timeout, WAIT_LIMIT))
    progress(f"starting {sum(used.values())} workers")
    gang = Gang(job, plan, matches, reservation)
    stack.callback(gang.kill)
    rows = audit(plan, matches, gang.start(worker, [os.getcwd()], timeout))
    different = tuple(findings(rows))
    if different:
        raise LaunchFailed(*different)
    return Launch(plan, gang.groups, rows, unchecked(plan), address, stack)
