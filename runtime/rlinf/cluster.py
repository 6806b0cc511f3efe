"""The cluster as RLinf's users hold it: its nodes are reserved once, and any number of worker groups share them."""

from __future__ import annotations

import os
import uuid
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Callable, Collection, Mapping

from ...models.machines.node_group import CLUSTER_LABEL, NodeGroup
from ...models.placements.plan import Plan
from ..failure import LaunchFailed, failed
from ..port.connection import Connection, must_be_unconnected
from ..port.on_ray import NAMESPACE, RayPort
from ..port.port import Port
from ..port.ray_compat import connected_address, need_ray
from ..refusal import refused
from ..reserving.reservation import WAIT_LIMIT, Reservation
from ..reserving.wanted import wanted_of
from ..shield import shielded
from ..simulated.simulate import SimulatedCluster
from ..simulated.simulated_cluster import simulated_machines
from ..watching.audit import agreed
from ..watching.audit_row import AuditRow
from ..watching.monitor import Monitor
from ..workers.gang import Gang
from ..workers.group import WorkerGroup
from ..workers.travelling import send_code
from ..workers.trust import untrusted
from ..world.interpreters import check_interpreters
from ..world.inventory import inventory
from ..world.matching import Match, used_nodes
from .described import described
from .known import NOTHING, Known, Said, opened
from .machines import found, nodes_asked, with_groups
from .node_info import NodeInfo, node_info
from .outstanding import Outstanding

ADDRESS = "RAY_ADDRESS"
"""Ray's own variable: the HOST:PORT of the cluster of programs that name none."""
RELEASES = 2
"""How often the nodes are given back, should the first time fail."""


@dataclass(frozen=True)
class Started:
    """A group that stands: its workers, where each really is, how it ends, and the calls that its calls are told of."""

    workers: WorkerGroup
    audit: tuple[AuditRow, ...]
    end: Callable[[], None]
    calls: Outstanding = field(default_factory=Outstanding)


class Cluster(metaclass=Known):
    """Nodes of a Ray cluster, held whole from here on until `close` or the end of the `with` block.

    Groups that are launched on it may share accelerators, as RLinf's may; other jobs of the Ray cluster see them as taken.
    `Cluster()`, with no argument or the same ones again, is the one that this process has made and not closed; in a worker, that on
    which it was launched. Unlike RLinf's it is made anew for other arguments, waits for missing nodes no longer than `wait` s, and ends everything that
    was launched on it.

    Parameters
    ----------
    num_nodes : the first so many nodes; all if not given.
    cluster_cfg : RLinf's `cluster` section, as a map: `num_nodes` and `node_groups` count here.
    distributed_log_dir : has no effect but a warning: what workers log is not gathered.
    address : HOST:PORT of the Ray cluster; by default that which this process is connected to, or else that of RAY_ADDRESS.
    simulate : machines in one word, such as ``2x8xH100``, which are simulated on this machine.
    wait : seconds to wait for what other jobs hold.
    trusted_env : variables that node groups may set although they can make a process run other code, such as PYTHONPATH.
    environment : names of variables of this process that its workers get too, such as MUJOCO_GL, beside those of RLinf itself (RLINF_...).
        RLinf hands on all that the head node has not; what Python reads when it starts, such as PYTHONPATH, must be in the nodes' own.
    port : the door to the cluster, if it is neither of these.

    Raises LaunchFailed: PW701 (no Ray there), PW702 (too few nodes, or a node is not free), PW710 (it cannot be simulated), and
    what is wrong with `cluster_cfg`.

    Source: RLinf, rlinf/scheduler/cluster/cluster.py.
    """

    said: Said = NOTHING
    """The arguments that it was made with."""

    NAMESPACE = NAMESPACE
    """Ray's namespace of the names of the workers."""

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
            there, machines = found(self.port) if simulate is None else (inventory(self.port), simulated_machines(simulate))
            count = nodes_asked(num_nodes, cluster_cfg, len(there))
            self.nodes = there[:count]
            machines = machines if count == len(there) else replace(machines, nodes=tuple(machines.nodes)[:count])
            self.machines = with_groups(machines, cluster_cfg) if cluster_cfg else machines
            self._matches = {node.rank: Match(node, ray) for node, ray in zip(self.machines.nodes, self.nodes)}
            name = f"placewright-{uuid.uuid4().hex[:8]}"
            self.reservation = Reservation(self.port, name, [wanted_of(each) for each in self._matches.values()])
            for _ in range(RELEASES):
                self._stack.callback(self.reservation.release)
            self.reservation.acquire(wait)
        except BaseException:
            self.close()
            raise

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

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def must_fit(self, plan: Plan) -> None:
        """Raises LaunchFailed (PW702) if a node that the plan uses is not here, or has fewer accelerators."""
        for rank in used_nodes(plan):
            here = len(self.machines.nodes[rank].accelerators) if rank < self.num_nodes else None
            wanted = len(plan.cluster.nodes[rank].accelerators)
            if here is None or wanted > here:
                has = "is not there" if here is None else f"has {here}"
                message = f"the plan is for a node {rank} with {wanted} accelerators, and that of this cluster {has}"
                raise failed("PW702", plan.cluster.name(rank), message, "solve for the cluster that is there", rank)
