"""Reserved nodes and the groups that run on them."""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64decode, b64encode
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Callable, Collection, Mapping, Sequence

from ....models.conversion.machines import cluster_to_data
from ....models.findings.wording import with_noun
from ....models.machines.cluster import Cluster
from ....models.machines.cluster import Cluster as Machines
from ....models.machines.cluster_file import ClusterForm
from ....models.machines.node_group import CLUSTER_LABEL, NodeGroup
from ....models.placements.plan import Plan
from ...failure import LaunchFailed, failed, refused
from ...port.port import Port, RayNode
from ...reserving.reservation import Reservation
from ...shield import shielded
from ...watching.audit import AuditRow, agreed
from ...watching.monitor import Monitor
from ...workers.group import Gang, WorkerGroup
from ...workers.worker_class import untrusted
from ...world.interpreters import check_interpreters
from ...world.matching import Match, used_nodes
from .machines import NodeInfo, node_info
from .results import WorkerGroupFuncResult

VARIABLE = "PLACEWRIGHT_LAUNCHED_ON"
"""Environment variable of workers with the description of their cluster."""
SHOWN = 16
"""Number of leading characters of a Ray node id that identify a node.

Whole ids could make the text too long for an environment variable.
"""


def describe(machines: Cluster, nodes: Sequence[RayNode], trusted: Collection[str], environment: Collection[str] = ()) -> str:
    """Describe the machines, the nodes by shortened Ray ids, and the trusted and forwarded
    variables.

    Equal nodes cost little.
    """
    ids = [node.node_id[:SHOWN] for node in nodes]
    data = {"machines": cluster_to_data(machines), "ids": ids, "trusted": list(trusted), "environment": list(environment)}
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


def parse_description(text: str) -> tuple[Cluster, list[str], list[str], list[str]]:
    """Return the arguments of `describe`, in order."""
    data = json.loads(zlib.decompress(b64decode(text)))
    machines = data["machines"]
    return (
        ClusterForm.read({"nodes": machines} if isinstance(machines, str) else machines).build(),
        data["ids"],
        data["trusted"],
        data["environment"],
    )


MANY = 64
"""Number of stored calls that triggers removal of finished calls."""


class Outstanding:
    """Calls with missing answers.

    RLinf's programs start several groups that wait for each other, then wait for one group. If
    another group fails, they would wait forever: RLinf ends the whole program; here the waiting
    call raises that failure.
    """

    def __init__(self) -> None:
        self._calls: list[WorkerGroupFuncResult] = []
        self._limit = MANY

    def add(self, call: WorkerGroupFuncResult) -> None:
        """Track a call until a failure was raised somewhere, even for a dropped result."""
        if len(self._calls) >= self._limit:
            self._calls = [earlier for earlier in self._calls if not (earlier.done() and earlier.settled)]
            self._limit = max(MANY, 2 * len(self._calls))
        self._calls.append(call)

    def check(self) -> None:
        """Raise the failure of the first failed call; every failure only once."""
        for call in list(self._calls):
            if call.done():
                is_settled = call.settled
                self._calls = [earlier for earlier in self._calls if earlier is not call]
                if not is_settled and call.failure is not None:
                    raise call.failure


@dataclass(frozen=True)
class RunningGroup:
    """Running group: workers, audited locations, end function, outstanding calls of the cluster."""

    workers: WorkerGroup
    audit: tuple[AuditRow, ...]
    end: Callable[[], None]
    calls: Outstanding = field(default_factory=Outstanding)


class ClusterReservation:
    """Reserved nodes of a Ray cluster, in rank order."""

    port: Port
    nodes: Sequence[RayNode]
    machines: Machines
    reservation: Reservation
    trusted_env: Collection[str]
    environment: Collection[str]
    _matches: Mapping[int, Match]
    _stack: ExitStack
    """Actions to run on `close`."""

    @cached_property
    def calls(self) -> Outstanding:
        """Calls of all groups whose answers are outstanding."""
        return Outstanding()

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def num_accelerators(self) -> int:
        """Number of accelerators."""
        return self.machines.total()

    @property
    def accelerator_ranks(self) -> list[list[int]]:
        """Ranks of the accelerators per node, counted over all nodes."""
        ranks, first = list[list[int]](), 0
        for node in self.machines.nodes:
            ranks.append(list(range(first, first + len(node.accelerators))))
            first += len(node.accelerators)
        return ranks

    @cached_property
    def description(self) -> str:
        """Text description of the cluster for its workers; see described.py."""
        return describe(self.machines, self.nodes, self.trusted_env, self.environment)

    def get_node_info(self, node_rank: int) -> NodeInfo:
        """Return the resources of a node.

        Raises ValueError (PW718) for an unknown rank.
        """
        self._must_be(node_rank)
        return node_info(self.machines.nodes[node_rank], self.nodes[node_rank])

    def get_node_ip(self, node_rank: int) -> str:
        """Return the address of a node.

        Raises ValueError (PW718) for an unknown rank.
        """
        self._must_be(node_rank)
        return self.nodes[node_rank].address

    def _must_be(self, node_rank: int) -> None:
        if not 0 <= node_rank < self.num_nodes:
            message = f"there is no node {node_rank}: the cluster has {self.num_nodes}"
            raise refused("PW718", "", message, f"name one of 0 to {self.num_nodes - 1}", node_rank)

    def get_node_group(self, label: str | None = None) -> NodeGroup | None:
        """Return the node group with this label (default: that of all nodes), or None."""
        return self.machines.groups.get(CLUSTER_LABEL if label is None else str(label))

    def must_fit(self, plan: Plan) -> None:
        """Check that all nodes of the plan exist, with enough accelerators.

        Raises LaunchFailed (PW702) otherwise.
        """
        for rank in used_nodes(plan):
            available = len(self.machines.nodes[rank].accelerators) if rank < self.num_nodes else None
            wanted = len(plan.cluster.nodes[rank].accelerators)
            if available is None or wanted > available:
                has = "is not there" if available is None else f"has {available}"
                message = f"the plan is for a node {rank} with {with_noun(wanted, 'accelerator')}, and that of this cluster {has}"
                raise failed("PW702", plan.cluster.name(rank), message, "solve for the cluster that is there", rank)

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> RunningGroup:
        """Start and audit the workers of a single-component plan, all or none.

        `make` builds the group for a port. Raises LaunchFailed as `launch` does.
        """
        distrusted = tuple(untrusted(plan, self.trusted_env))
        if distrusted:
            raise LaunchFailed(*distrusted)
        check_interpreters(self.port, plan, self._matches)
        group = make(self.port)
        gang = Gang(self.port, self.reservation, {rank: rank for rank in self._matches}, [group])
        self._stack.callback(gang.kill)
        nodes = {rank: self._matches[rank].ray.node_id for rank in used_nodes(plan)}
        monitor = Monitor(self.port, self.reservation.hold, nodes, [group])

        def look() -> None:
            monitor.check()
            self.calls.check()

        group.alarm = look
        audited = partial(agreed, plan, self._matches)
        rows = audited(gang.start([os.getcwd()], timeout, settled=audited))
        return RunningGroup(group, rows, gang.kill, self.calls)

    def close(self) -> None:
        """End every group launched on the cluster and release the nodes. Idempotent."""
        with shielded():
            self._stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()
