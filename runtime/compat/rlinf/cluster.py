"""RLinf's `Cluster`: its nodes are reserved once, and worker groups launched on it."""

from __future__ import annotations

import os
import uuid
import warnings
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Callable, Collection, Mapping, Sequence

from ....models.placements.plan import Plan
from ...failure import failed
from ...port.connection import Connection, must_be_unconnected
from ...port.on_ray import NAMESPACE, RayPort
from ...port.port import Port, RayNode
from ...port.ray_compat import connected_address, need_ray
from ...reserving.reservation import WAIT_LIMIT, Reservation
from ...reserving.shortage import node_demand
from ...simulated.simulate import SimulatedCluster, simulated_machines
from ...workers.group import WorkerGroup
from ...workers.worker_class import send_code
from ...world.inventory import inventory
from ...world.matching import Match
from .machines import requested_nodes, survey_machines, with_groups
from .reservation import VARIABLE, ClusterReservation, RunningGroup, parse_description

RLINF_ARGUMENTS = frozenset({"num_nodes", "cluster_cfg", "distributed_log_dir"})
"""Arguments of RLinf's own Cluster."""

CallArguments = tuple[tuple[Any, ...], dict[str, Any]]
NO_ARGUMENTS: CallArguments = (), {}
opened: list[Any] = []
"""Open clusters of this process, the newest last."""


class CurrentInstance(type):
    """Metaclass that returns the current object for repeated or missing arguments.

    Source of the rule: RLinf, rlinf/scheduler/cluster/cluster.py, with a single object per process
    whatever the arguments.
    """

    _of_worker: Callable[[str], Any]
    """Constructor of the object in a worker, from the driver's description; see described.py."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """Return the current object, or construct a new one."""
        call_arguments = (arguments, named)
        current = cls._known() if RLINF_ARGUMENTS.issuperset(named) else None
        if current is not None and call_arguments in (current.said, NO_ARGUMENTS):
            return current
        created = super().__call__(*arguments, **named)
        created.said = call_arguments
        return created

    def _known(cls) -> Any:
        """Return the newest open object, or in a worker the launching cluster; None without
        either.
        """
        if not opened and VARIABLE in os.environ:
            opened.append(cls._of_worker(os.environ[VARIABLE]))
        return opened[-1] if opened else None


ADDRESS = "RAY_ADDRESS"
"""Ray's own variable with HOST:PORT of the default cluster."""
RELEASES = 2
"""Number of attempts to release the nodes, should the first fail."""


class Cluster(ClusterReservation, metaclass=CurrentInstance):
    """Nodes of a Ray cluster, reserved whole until `close` or the `with` block ends.

    Groups launched on it may share accelerators, as RLinf's may; other jobs of the Ray cluster see
    them as taken. `Cluster()`, without arguments or with the same arguments again, returns the open
    cluster of this process; in a worker, the cluster on which the worker was launched. Unlike
    RLinf's, it is built anew for different arguments, waits at most `wait` s for missing nodes, and
    ends everything that was launched on it.

    Parameters
    ----------
    num_nodes : number of nodes, from the first on; all by default.
    cluster_cfg : RLinf's `cluster` section, as a map: `num_nodes` and `node_groups` count here.
    distributed_log_dir : ignored with a warning: the logs of workers are not collected.
    address : HOST:PORT of the Ray cluster; default: this process's connection, else RAY_ADDRESS.
    simulate : shorthand of machines to simulate on this machine, such as ``2x8xH100``.
    wait : time limit, in seconds, for resources that other jobs hold.
    trusted_env : variables that node groups may set although they can make a process run other
        code, such as PYTHONPATH.
    environment : names of variables of this process that its workers get too, such as MUJOCO_GL,
        beside RLinf's own (RLINF_...). RLinf forwards all variables that the head node lacks;
        variables that
        Python reads at start, such as PYTHONPATH, must be set on the nodes.
    port : port of the cluster, instead of an address or a simulation.

    Raises LaunchFailed: PW701 (no Ray there), PW702 (too few nodes, or a node in use), PW710 (no
    simulation possible), and the findings of `cluster_cfg`.

    Source: RLinf, rlinf/scheduler/cluster/cluster.py.
    """

    said: CallArguments = NO_ARGUMENTS
    """Arguments of the constructor."""

    NAMESPACE = NAMESPACE
    """Ray namespace of the workers' names."""

    def __init__(
        self, num_nodes: int | None = None, cluster_cfg: Mapping[str, Any] | None = None, distributed_log_dir: str | None = None, *,
        address: str | None = None, simulate: str | None = None, wait: float = WAIT_LIMIT, trusted_env: Collection[str] = (),
        environment: Collection[str] = (), port: Port | None = None,
    ) -> None:  # fmt: skip
        if distributed_log_dir is not None:
            warnings.warn(f"nothing is written to {distributed_log_dir}: what workers log is in Ray's logs of their nodes", stacklevel=3)
        self.trusted_env = trusted_env
        self.environment = environment
        self._stack = ExitStack()
        opened.append(self)
        self._stack.callback(opened.remove, self)
        try:
            self.port = self._connected(address, simulate) if port is None else port
            nodes, machines = survey_machines(self.port) if simulate is None else (inventory(self.port), simulated_machines(simulate))
            count = requested_nodes(num_nodes, cluster_cfg, len(nodes))
            self.nodes = nodes[:count]
            machines = machines if count == len(nodes) else replace(machines, nodes=tuple(machines.nodes)[:count])
            self.machines = with_groups(machines, cluster_cfg) if cluster_cfg else machines
            self._matches = {node.rank: Match(node, ray) for node, ray in zip(self.machines.nodes, self.nodes)}
            name = f"placewright-{uuid.uuid4().hex[:8]}"
            self.reservation = Reservation(self.port, name, [node_demand(match) for match in self._matches.values()])
            for _ in range(RELEASES):
                self._stack.callback(self.reservation.release)
            self.reservation.acquire(wait)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _of_worker(description: str) -> Cluster:
        """Return the cluster on which this process was launched."""
        return ClusterOfWorker(description=description)

    def __enter__(self) -> Cluster:
        return self

    def _connected(self, address: str | None, simulate: str | None) -> Port:
        if simulate is not None:
            if address is not None:
                raise ValueError("either an address or simulate, not both")
            nodes = simulated_machines(simulate).nodes
            must_be_unconnected()
            simulated = SimulatedCluster()
            self._stack.callback(simulated.stop)
            address = simulated.start(nodes, {node.rank: len(node.accelerators) for node in nodes})
        elif address is None and need_ray().is_initialized():
            address = connected_address()
        elif address is None:
            address = os.environ.get(ADDRESS)
            if not address:
                help = f"name its HOST:PORT with `address=` or {ADDRESS}, or machines with `simulate=`"
                raise failed("PW701", "", "nobody said which Ray cluster is meant", help)
        connection = Connection(address)
        self._stack.callback(connection.close)
        connection.open()
        send_code()
        return RayPort()


class ClusterOfWorker(Cluster):
    """Nodes reserved by the driver's Cluster, seen from a worker.

    Groups launched on it share the driver's reservation. They end at the latest with the worker
    that launched them.

    Raises LaunchFailed (PW702) if a node is gone.
    """

    def __init__(self, description: str, port: Port | None = None) -> None:
        self.port = RayPort() if port is None else port
        self._stack = ExitStack()
        self.machines, ids, self.trusted_env, self.environment = parse_description(description)
        nodes = self.port.nodes()
        self.nodes = [_node(nodes, rank, id) for rank, id in enumerate(ids)]
        self._matches = {node.rank: Match(node, ray) for node, ray in zip(self.machines.nodes, self.nodes)}
        self.reservation = Reservation(self.port, "of the driver", [node_demand(match) for match in self._matches.values()])

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> RunningGroup:
        """Start the workers of a plan; see Cluster."""
        if self.reservation.hold is None:
            self.reservation.hold = self.port.around()
            send_code()
        return super().start(plan, make, timeout)


def _node(nodes: Sequence[RayNode], rank: int, id: str) -> RayNode:
    for node in nodes:
        if node.node_id.startswith(id):
            return node
    raise failed("PW702", "", f"node {rank} of the cluster is not there any more", "launch everything again", rank)
