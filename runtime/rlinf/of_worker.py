"""The cluster as a worker on it knows it, and launches groups of its own there."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Callable, Sequence

from ...models.placements.plan import Plan
from ..failure import failed
from ..port.node import RayNode
from ..port.on_ray import RayPort
from ..port.port import Port
from ..reserving.reservation import Reservation
from ..reserving.wanted import wanted_of
from ..workers.group import WorkerGroup
from ..workers.travelling import send_code
from ..world.matching import Match
from .cluster import Cluster, Started
from .described import understood


class ClusterOfWorker(Cluster):
    """The nodes that the driver's Cluster holds, seen from one of its workers.

    Groups that are launched on it share what the driver holds. They end with the worker that launched them, if not before.

    Raises LaunchFailed (PW702) if one of its nodes is not there any more.
    """

    def __init__(self, description: str, port: Port | None = None) -> None:
        self.port = RayPort() if port is None else port
        self._stack = ExitStack()
        self.machines, ids, self.trusted_env, self.environment = understood(description)
        there = self.port.nodes()
        self.nodes = [_node(there, rank, id) for rank, id in enumerate(ids)]
        self._matches = {node.rank: Match(node, ray) for node, ray in zip(self.machines.nodes, self.nodes)}
        self.reservation = Reservation(self.port, "of the driver", [wanted_of(each) for each in self._matches.values()])

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> Started:
        """See Cluster."""
        if self.reservation.hold is None:
            self.reservation.hold = self.port.around()
            send_code()
        return super().start(plan, make, timeout)


def _node(there: Sequence[RayNode], rank: int, id: str) -> RayNode:
    for node in there:
        if node.node_id.startswith(id):
            return node
    raise failed("PW702", "", f"node {rank} of the cluster is not there any more", "launch everything again", rank)
