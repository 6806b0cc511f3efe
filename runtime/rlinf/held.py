"""Nodes that are held, and the groups that are launched on them: what the driver's cluster and a worker's have in common."""

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
    """A group that stands: its workers, where each really is, how it ends, and the calls that its calls are told of."""

    workers: WorkerGroup
    audit: tuple[AuditRow, ...]
    end: Callable[[], None]
    calls: Outstanding = field(default_factory=Outstanding)


class Held:
    """Nodes of a Ray cluster that are reserved, in the order of their ranks."""

    port: Port
    nodes: Sequence[RayNode]
    machines: Machines
    reservation: Reservation
    trusted_env: Collection[str]
    environment: Collection[str]
    _matches: Mapping[int, Match]
    _stack: ExitStack
    """What is done when it is closed."""

    @cached_property
    def calls(self) -> Outstanding:
        """The calls of its groups that nobody has waited for."""
        return Outstanding()

    @property
    def num_nodes(self) -> int:
        """How many nodes it has."""
        return len(self.nodes)

    @property
    def num_accelerators(self) -> int:
        """How many accelerators its nodes have."""
        return self.machines.total()

    @property
    def accelerator_ranks(self) -> list[list[int]]:
        """The ranks of the accelerators of each node, counted over all nodes."""
        found, first = list[list[int]](), 0
        for node in self.machines.nodes:
            found.append(list(range(first, first + len(node.accelerators))))
            first += len(node.accelerators)
        return found

    @cached_property
    def description(self) -> str:
        """The cluster as its workers are told of it; see described.py."""
        return described(self.machines, self.nodes, self.trusted_env, self.environment)

    def get_node_info(self, node_rank: int) -> NodeInfo:
        """What there is on a node. Raises ValueError (PW718) for a rank that is none."""
        self._must_be(node_rank)
        return node_info(self.machines.nodes[node_rank], self.nodes[node_rank])

    def get_node_ip(self, node_rank: int) -> str:
        """The address of a node. Raises ValueError (PW718) for a rank that is none."""
        self._must_be(node_rank)
        return self.nodes[node_rank].address

    def _must_be(self, node_rank: int) -> None:
        if not 0 <= node_rank < self.num_nodes:
            message = f"there is no node {node_rank}: the cluster has {self.num_nodes}"
            raise refused("PW718", "", message, f"name one of 0 to {self.num_nodes - 1}", node_rank)

    def get_node_group(self, label: str | None = None) -> NodeGroup | None:
        """The node group with a label, by default that of all nodes; None if there is none."""
        return self.machines.groups.get(CLUSTER_LABEL if label is None else str(label))

    def must_fit(self, plan: Plan) -> None:
        """Raises LaunchFailed (PW702) if a node that the plan uses is not here, or has fewer accelerators."""
        for rank in used_nodes(plan):
            here = len(self.machines.nodes[rank].accelerators) if rank < self.num_nodes else None
            wanted = len(plan.cluster.nodes[rank].accelerators)
            if here is None or wanted > here:
                has = "is not there" if here is None else f"has {here}"
                message = f"the plan is for a node {rank} with {with_noun(wanted, 'accelerator')}, and that of this cluster {has}"
                raise failed("PW702", plan.cluster.name(rank), message, "solve for the cluster that is there", rank)

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> Started:
        """Starts the workers of a plan with one component, all or none, and audits them.

        `make` gives the group for a port. Raises LaunchFailed as `launch` does.
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
        """Ends every group that was launched on it and gives the nodes back. May be called twice."""
        with shielded():
            self._stack.close()

    def __exit__(self, *_: object) -> None:
        self.close()
