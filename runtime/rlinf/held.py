"""Reserved nodes and groups on them: base of the driver's and a worker's cluster."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Callable, Collection, Mapping, Sequence

from ...models.findings.wording import with_noun
from ...models.machines.cluster import Cluster as Machines
from ...models.machines.node_group import CLUSTER_LABEL, NodeGroup
from ...models.placements.plan import Plan
from ..failure import LaunchFailed, failed
from ..port.node import RayNode
from ..port.port import Port
from ..refusal import refused
from ..reserving.reservation import Reservation
from ..shield import shielded
from ..watching.audit import agreed
from ..watching.audit_row import AuditRow
from ..watching.monitor import Monitor
from ..workers.gang import Gang
from ..workers.group import WorkerGroup
from ..workers.trust import untrusted
from ..world.interpreters import check_interpreters
from ..world.matching import Match, used_nodes
from .described import described
from .node_info import NodeInfo, node_info
from .outstanding import Outstanding


@dataclass(frozen=True)
class Started:
    """Running group: workers, audited locations, end function, outstanding calls of the cluster."""

    workers: WorkerGroup
    audit: tuple[AuditRow, ...]
    end: Callable[[], None]
    calls: Outstanding = field(default_factory=Outstanding)


class Held:
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
        return described(self.machines, self.nodes, self.trusted_env, self.environment)

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

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> Started:
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
        return Started(group, rows, gang.kill, self.calls)

    def close(self) -> None:
        """End every group launched on the cluster and release the nodes. Idempotent."""
        with shielded():
            self._stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()
