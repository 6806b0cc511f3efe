"""RLinf's `Cluster`: its nodes are reserved once, and worker groups run on it."""

from __future__ import annotations

import json
import os
import uuid
import warnings
import zlib
from base64 import b64decode, b64encode
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Callable, Collection, Mapping, Sequence

from ....models.findings.wording import with_noun
from ....models.machines.cluster import Cluster as Machines
from ....models.machines.cluster_file import ClusterForm
from ....models.machines.cluster_file import cluster_to_short_data as cluster_to_data
from ....models.machines.node_group import CLUSTER_LABEL, NodeGroup
from ....models.placements.plan import Plan
from ...failure import build_failure, build_refusal
from ...port.connection import Connection, must_be_unconnected
from ...port.on_ray import NAMESPACE, RayPort
from ...port.port import Port, RayNode
from ...port.ray_compat import connected_address, need_ray
from ...reserving.reservation import WAIT_LIMIT, Reservation, node_demand
from ...running.audit import AuditRow, check_reports
from ...running.monitor import Monitor
from ...shield import defer_signals
from ...simulated.simulate import SimulatedCluster, simulated_machines
from ...workers.group import Gang, WorkerGroup
from ...workers.worker_class import check_trusted
from ...world.interpreters import check_interpreters
from ...world.inventory import inventory
from ...world.matching import Match, used_nodes
from .machines import NodeInfo, node_info, requested_nodes, survey_machines, with_groups
from .results import WorkerGroupFuncResult

VARIABLE = "PLACEWRIGHT_LAUNCHED_ON"
"""Environment variable of workers with the description of their cluster."""
SHOWN = 16
"""Number of leading characters of a Ray node id that identify a node.

Whole ids could make the text too long for an environment variable.
"""


def describe(machines: Machines, nodes: Sequence[RayNode], trusted_names: Collection[str], environment: Collection[str] = ()) -> str:
    """Describe machines, shortened Ray ids, trusted and forwarded variables."""
    ids = [node.node_id[:SHOWN] for node in nodes]
    data = {"machines": cluster_to_data(machines), "ids": ids, "trusted": list(trusted_names), "environment": list(environment)}
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()


def parse_description(text: str) -> tuple[Machines, list[str], list[str], list[str]]:
    """Return the arguments of `describe`, in order."""
    data = json.loads(zlib.decompress(b64decode(text)))
    machines = data["machines"]
    cluster = ClusterForm.read({"nodes": machines} if isinstance(machines, str) else machines).build()
    return cluster, data["ids"], data["trusted"], data["environment"]


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

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        """Return the current object, or construct a new one."""
        call_arguments = (arguments, keywords)
        current = cls._find_open() if RLINF_ARGUMENTS.issuperset(keywords) else None
        if current is not None and call_arguments in (current.call_arguments, NO_ARGUMENTS):
            return current
        instance = super().__call__(*arguments, **keywords)
        instance.call_arguments = call_arguments
        return instance

    def _find_open(cls) -> Any:
        """Return the newest open object, in a worker the launching cluster, or None."""
        if not opened and VARIABLE in os.environ:
            opened.append(ClusterOfWorker(description=os.environ[VARIABLE]))
        return opened[-1] if opened else None


ADDRESS = "RAY_ADDRESS"
"""Ray's own variable with HOST:PORT of the default cluster."""


class Cluster(metaclass=CurrentInstance):
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
    trusted_env : variables that node groups may set although they may make a process run other
        code, such as PYTHONPATH.
    environment : names of variables of this process that its workers get too, such as MUJOCO_GL,
        beside RLinf's own (RLINF_...). RLinf forwards all variables that the head node lacks;
        variables that Python reads at start, such as PYTHONPATH, must be set on the nodes.
    port : port of the cluster, instead of an address or a simulation.

    Raises LaunchFailed: PW701 (no Ray there), PW702 (too few nodes, or a node in use), PW710 (no
    simulation possible), and the findings of `cluster_cfg`.

    Source: RLinf, rlinf/scheduler/cluster/cluster.py.
    """

    port: Port
    nodes: Sequence[RayNode]
    """Nodes in rank order."""
    machines: Machines
    reservation: Reservation
    _stack: ExitStack
    """Actions to run on `close`."""
    call_arguments: CallArguments = NO_ARGUMENTS
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
            self.port = self._connect(address, simulate) if port is None else port
            nodes, machines = survey_machines(self.port) if simulate is None else (inventory(self.port), simulated_machines(simulate))
            count = requested_nodes(num_nodes, cluster_cfg, len(nodes))
            self.nodes = nodes[:count]
            machines = machines if count == len(nodes) else replace(machines, nodes=tuple(machines.nodes)[:count])
            self.machines = with_groups(machines, cluster_cfg) if cluster_cfg else machines
            self._matches = {node.rank: Match(node, ray) for node, ray in zip(self.machines.nodes, self.nodes)}
            name = f"placewright-{uuid.uuid4().hex[:8]}"
            self.reservation = Reservation(self.port, name, [node_demand(match) for match in self._matches.values()])
            self._stack.callback(self.reservation.release)
            self.reservation.acquire(wait)
        except BaseException:
            self.close()
            raise

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

    @cached_property
    def description(self) -> str:
        """Text description of the cluster for its workers."""
        return describe(self.machines, self.nodes, self.trusted_env, self.environment)

    def get_node_info(self, node_rank: int) -> NodeInfo:
        """Return the resources of a node. Unknown rank: ValueError (PW718)."""
        self._must_be(node_rank)
        return node_info(self.machines.nodes[node_rank], self.nodes[node_rank])

    def get_node_ip(self, node_rank: int) -> str:
        """Return the address of a node. Unknown rank: ValueError (PW718)."""
        self._must_be(node_rank)
        return self.nodes[node_rank].address

    def _must_be(self, node_rank: int) -> None:
        if not 0 <= node_rank < self.num_nodes:
            message = f"there is no node {node_rank}: the cluster has {self.num_nodes}"
            raise build_refusal("PW718", "", message, f"name one of 0 to {self.num_nodes - 1}", node_rank)

    def get_node_group(self, label: str | None = None) -> NodeGroup | None:
        """Return the node group with this label (default: that of all nodes), or None."""
        return self.machines.groups.get(CLUSTER_LABEL if label is None else str(label))

    def must_fit(self, plan: Plan) -> None:
        """Raise LaunchFailed (PW702) unless all nodes of the plan exist, large enough."""
        for rank in used_nodes(plan):
            available = len(self.machines.nodes[rank].accelerators) if rank < self.num_nodes else None
            demand = len(plan.cluster.nodes[rank].accelerators)
            if available is None or demand > available:
                has = "is not there" if available is None else f"has {available}"
                message = f"the plan is for a node {rank} with {with_noun(demand, 'accelerator')}, and that of this cluster {has}"
                raise build_failure("PW702", plan.cluster.name(rank), message, "solve for the cluster that is there", rank)

    def start(self, plan: Plan, make: Callable[[Port], WorkerGroup], timeout: float) -> RunningGroup:
        """Start and audit a single component, all or none, as `launch`; `make`: port -> group."""
        check_trusted(plan, self.trusted_env)
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
        audit = partial(check_reports, plan, self._matches)
        rows = audit(gang.start(timeout, on_settled=audit))
        return RunningGroup(group, rows, gang.kill, self.calls)

    def close(self) -> None:
        """End every group launched on the cluster and release the nodes. Idempotent."""
        with defer_signals():
            self._stack.close()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self, address: str | None, simulate: str | None) -> Port:
        if simulate is not None:
            if address is not None:
                raise ValueError("either an address or simulate, not both")
            nodes = simulated_machines(simulate).nodes
            must_be_unconnected()
            simulation = SimulatedCluster()
            self._stack.callback(simulation.stop)
            address = simulation.start(nodes, {node.rank: len(node.accelerators) for node in nodes})
        elif address is None and need_ray().is_initialized():
            address = connected_address()
        elif address is None:
            address = os.environ.get(ADDRESS)
            if not address:
                help = f"name its HOST:PORT with `address=` or {ADDRESS}, or machines with `simulate=`"
                raise build_failure("PW701", "", "the Ray cluster is unspecified", help)
        connection = Connection(address)
        self._stack.callback(connection.close)
        connection.open()
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
        self.reservation.hold = self.port.around()


def _node(nodes: Sequence[RayNode], rank: int, id: str) -> RayNode:
    for node in nodes:
        if node.node_id.startswith(id):
            return node
    raise build_failure("PW702", "", f"node {rank} of the cluster is not there any more", "launch everything again", rank)
