"""Replica: one inference server with its workers; joint launch of several."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, AsyncIterator, Mapping, Sequence

from ...models.findings.wording import plural, with_noun
from ..compat.verl.pool import RayResourcePool, Seat, device_there, port_of
from ..compat.verl.pool_manager import split_resource_pool
from ..compat.verl.worker_classes import RayClassWithInitArgs
from ..compat.verl.worker_group import RayWorkerGroup
from ..engines.engine import ReplicaShape
from ..failure import LaunchFailed, refused
from ..port.port import Actor
from ..world.vendors import RESOURCES
from .loop import in_thread


@dataclass(frozen=True, slots=True)
class Division:
    """Division of accelerators among replicas: number, size, and idle rest."""

    replicas: int
    size: int
    idle: int

    def __str__(self) -> str:
        all_of_them = self.replicas * self.size + self.idle
        rest = f", {self.idle} stay{'s' * (self.idle == 1)} idle" if self.idle else ""
        return f"{with_noun(all_of_them, 'accelerator')} // {self.size} for each = {with_noun(self.replicas, 'replica')}{rest}"


def divide(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> Division:
    """Divide accelerators among replicas of ``tp * dp * pp``.

    Raises a ValueError (PW741) for degrees below 1. Source: verl,
    experimental/agent_loop/agent_loop.py. Elsewhere verl divides by tp alone, and so starts too
    many replicas if dp or pp is above 1 (trainer/main_generation_server.py).
    """
    if not all(isinstance(number, int) for number in (n_accelerators, tp, dp, pp)) or n_accelerators < 0 or min(tp, dp, pp) < 1:
        message = f"{n_accelerators} accelerators cannot be dealt to replicas of tp {tp}, dp {dp} and pp {pp}"
        raise refused("PW741", "", message, "give whole numbers, degrees of at least 1", tp, dp, pp)
    size = ReplicaShape(tp, dp, pp).world_size
    return Division(n_accelerators // size, size, n_accelerators % size)


def num_replicas(n_accelerators: int, tp: int = 1, dp: int = 1, pp: int = 1) -> int:
    """Return the number of replicas of ``tp * dp * pp`` accelerators; see `divide`."""
    return divide(n_accelerators, tp, dp, pp).replicas


def nodes_of(world_size: int, gpus_per_node: int, subject: str) -> tuple[int, int]:
    """Return (nodes, accelerators per node) of a replica.

    Raises a ValueError (PW741) unless it fills nodes evenly. verl checks only that nodes are
    filled, and treats a replica across the border of two nodes as a single node. Source: verl,
    workers/rollout/replica.py, `RolloutReplica.__init__`.
    """
    if not isinstance(gpus_per_node, int) or gpus_per_node < 1 or (world_size % gpus_per_node and gpus_per_node % world_size):
        message = f"a replica of {world_size} accelerators does not fit nodes of {gpus_per_node}: neither divides the other"
        help = "choose degrees whose product divides the accelerators of a node, or is a multiple of them"
        raise refused("PW741", subject, message, help, world_size, gpus_per_node)
    per_node = min(world_size, gpus_per_node)
    return world_size // per_node, per_node


DEGREES = ("tensor_model_parallel_size", "data_parallel_size", "pipeline_model_parallel_size")


class RolloutMode(Enum):
    """Processes and accelerators of a replica. Source: verl, workers/rollout/replica.py."""

    HYBRID = "hybrid"
    """A trainer's processes are the workers."""
    COLOCATED = "colocated"
    """Separate worker processes, on shared accelerators."""
    STANDALONE = "standalone"
    """Separate worker processes, on exclusive accelerators."""


class Replica(ABC):
    """Inference server on one or several nodes; subclasses define workers and servers.

    Parameters
    ----------
    replica_rank : number of the replica.
    config : `tensor_model_parallel_size`, `data_parallel_size`, `pipeline_model_parallel_size`, 1
        each by default; a mapping, or an object with these attributes.
    model_config : settings of the model, defined by the subclass.
    gpus_per_node : maximal number of accelerators per node. A larger replica takes several nodes.
    is_reward_model : marks the names of the replica.
    on : HOST:PORT of the cluster, or a cluster object; else that of `ray.init`.
    device_name : ``cuda`` (AMD's too), ``npu``, ``xpu`` or ``musa``; default: the cluster's own
        accelerators.

    It ends, with all that it started, by `close`, at the end of an `async with` block, or with this
    process. Raises a ValueError (PW741) for a degree that is no positive whole number, and for a
    size that does not fill nodes evenly. Source of the modes, the names and the flow: verl,
    workers/rollout/replica.py, `RolloutReplica`.
    """

    def __init__(
        self, replica_rank: int, config: Any, model_config: Any, gpus_per_node: int = 8, is_reward_model: bool = False, *,
        on: Any = None, device_name: str | None = None,
    ) -> None:  # fmt: skip
        self.replica_rank = replica_rank
        self.config = config
        self.model_config = model_config
        self.gpus_per_node = gpus_per_node
        self.is_reward_model = is_reward_model
        self.on = on
        self.device_name = device_name
        self.shape = ReplicaShape(*(degree(config, name, self.subject) for name in DEGREES))
        self.nnodes, self.gpus_per_replica_node = nodes_of(self.world_size, gpus_per_node, self.subject)
        self.rollout_mode: RolloutMode | None = None
        self.worker_group: RayWorkerGroup | None = None
        self.resource_pool: RayResourcePool | None = None
        self.workers: Sequence[Actor] = []
        self.servers: list[Actor] = []
        self._seats: list[Seat] = []
        self._own_pool: RayResourcePool | None = None
        self._own_group: RayWorkerGroup | None = None
        self._server_address = ""
        self._server_handle: Actor = None

    @property
    def world_size(self) -> int:
        """Number of workers."""
        return self.shape.world_size

    @property
    def device(self) -> str:
        """Device by verl's name. Raises LaunchFailed (PW701) without a cluster."""
        return self.device_name or device_there(port_of(self.on))

    @property
    def subject(self) -> str:
        """Name in messages."""
        return f"{'reward ' if self.is_reward_model else ''}replica {self.replica_rank}"

    @property
    def server_address(self) -> str:
        """HTTP endpoint ``ip:port``, with brackets around an IPv6 address; "" before the launch."""
        return self._server_address

    @property
    def server_handle(self) -> Actor:
        """Actor of the master server, for token input and output; None before the launch."""
        return self._server_handle

    @abstractmethod
    def get_ray_class_with_init_args(self) -> RayClassWithInitArgs:
        """Return the class of the workers, for the modes that start workers."""

    @abstractmethod
    async def launch_servers(self) -> None:
        """Start a server on every node and set `servers`, `server_address` and `server_handle`."""

    async def stop_servers(self) -> None:
        """End the servers of `launch_servers`. Idempotent."""
        return

    async def init_hybrid(self, worker_group: RayWorkerGroup) -> None:
        """Serve from a trainer's processes of this rank, which outlive the replica."""
        self.rollout_mode = RolloutMode.HYBRID
        seats: Sequence[Seat] = getattr(worker_group.group, "seats", ())
        first = self.world_size * self.replica_rank
        if len(seats) < first + self.world_size:
            message = f"{self.subject} needs workers {first}-{first + self.world_size - 1} of a group on a pool; this one has {len(seats)}"
            raise refused("PW741", self.subject, message, "start the group with a resource_pool, large enough for all replicas")
        self.worker_group = worker_group
        self.workers = worker_group.workers[first : first + self.world_size]
        await self._launch(list(seats[first : first + self.world_size]))

    async def init_hybrid_colocated(self, worker_group: RayWorkerGroup, resource_pool: RayResourcePool) -> None:
        """Serve as `init_hybrid`, and store the pool as `resource_pool`."""
        self.resource_pool = resource_pool
        await self.init_hybrid(worker_group)

    async def init_colocated(self, resource_pool: RayResourcePool) -> None:
        """Serve from separate workers on a shared pool, which outlives the replica."""
        self.rollout_mode = RolloutMode.COLOCATED
        await self._init_on(resource_pool)

    async def init_standalone(self, resource_pool: RayResourcePool | None = None) -> None:
        """Serve from separate workers on exclusive accelerators: a given pool, or a temporary one.

        Any number of replicas may start at the same time. A shortage is refused within a second
        (PW702).
        """
        self.rollout_mode = RolloutMode.STANDALONE
        port_of(self.on)  # connects once, here and not in a thread
        if resource_pool is None:
            name = f"rollout_pool_{'reward_' if self.is_reward_model else ''}{self.replica_rank}"
            sizes = [self.gpus_per_replica_node] * self.nnodes
            resource_pool = self._own_pool = RayResourcePool(sizes, name_prefix=name, max_colocate_count=1, on=self.on)
        await self._init_on(resource_pool)

    async def _init_on(self, pool: RayResourcePool) -> None:
        try:
            if pool.world_size != self.world_size:
                message = f"{self.subject} has {with_noun(self.world_size, 'worker')}, its pool {with_noun(pool.world_size, 'place')}"
                raise refused("PW741", self.subject, message, "give it a pool, or a part of one, of its own size")
            self.resource_pool = pool
            await in_thread(self._start_workers, pool)
        except LaunchFailed as problem:
            await self.close()
            raise self._told(problem) from problem
        except BaseException:
            await self.close()
            raise
        await self._launch(pool.seats())

    def _told(self, problem: LaunchFailed) -> LaunchFailed:
        """Return the failure; a taken name is reported for the replica, whose rank causes it."""
        first = problem.findings[0]
        if first.code != "PW717":
            return problem
        message = f"there is a {self.subject} already: {first.message}"
        return refused("PW717", self.subject, message, "close that one, or give each a replica_rank of its own", self.replica_rank)

    def _start_workers(self, pool: RayResourcePool) -> None:
        mode = "standalone" if self.rollout_mode is RolloutMode.STANDALONE else "colocate"
        prefix = f"rollout_{'reward_' if self.is_reward_model else ''}{mode}_{self.replica_rank}"
        cia = self.get_ray_class_with_init_args()
        self.worker_group = self._own_group = RayWorkerGroup(pool, cia, bin_pack=False, name_prefix=prefix, device_name=self.device)
        self.workers = self.worker_group.workers

    async def _launch(self, seats: list[Seat]) -> None:
        try:
            self._seats = seats
            for slice in self.node_seats:
                if len({seat.node.node_id for seat in slice}) > 1:
                    message = f"the {len(slice)} workers of {self.subject} that share a server are not on one node"
                    raise refused("PW741", self.subject, message, "give it places that are whole on each of its nodes")
            await self.launch_servers()
        except BaseException:
            await self.close()
            raise

    @property
    def node_seats(self) -> list[list[Seat]]:
        """Seats of the workers, node by node."""
        per_node = self.gpus_per_replica_node
        return [self._seats[first : first + per_node] for first in range(0, len(self._seats), per_node)]

    async def close(self) -> None:
        """End the servers, the started workers, and the replica's own pool. Idempotent."""
        async with AsyncExitStack() as ends:  # every part is ended even if ending another fails
            for owned in (self._own_pool, self._own_group):
                if owned is not None:
                    ends.push_async_callback(in_thread, owned.close)
            ends.push_async_callback(self.stop_servers)
        self.servers, self.workers, self._server_address, self._server_handle = [], [], "", None

    async def __aenter__(self) -> Replica:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def degree(config: Any, name: str, subject: str) -> int:
    """Return a degree of parallelism, 1 by default. Invalid: ValueError (PW741)."""
    value = setting(config, name, 1)
    if not str(value).isdecimal() or int(value) < 1:
        raise refused("PW741", subject, f"`{name}` of {subject} is {value!r}", "give a whole number of at least 1", name)
    return int(value)


def setting(config: Any, name: str, default: Any) -> Any:
    """Return a value of a mapping or an object, or the default for None."""
    value = config.get(name) if isinstance(config, Mapping) or hasattr(config, "get") else getattr(config, name, None)
    return default if value is None else value


async def reserve_replicas(replicas: Sequence[Replica]) -> RayResourcePool:
    """Reserve a pool for all replicas; LaunchFailed (PW702) with the arithmetic."""
    if not replicas:
        raise refused("PW741", "", "there are no replicas to reserve for", "make at least one")
    on = replicas[0].on
    port = port_of(on)
    device = _one_device(replicas)
    sizes = [replica.gpus_per_replica_node for replica in replicas for _ in range(replica.nnodes)]
    pool = RayResourcePool(sizes, name_prefix="rollout_pool", max_colocate_count=1, on=on)
    try:
        await in_thread(pool.seats, device)
    except LaunchFailed as problem:
        pool.close()
        resources = {name for need in pool.needs(device) for name in need if name in RESOURCES}
        total = sum(int(node.total.get(name, 0)) for node in port.nodes() for name in resources)
        raise _with_arithmetic(problem, replicas, total) from problem
    except BaseException:
        pool.close()
        raise
    return pool


@asynccontextmanager
async def launch_replicas(replicas: Sequence[Replica]) -> AsyncIterator[Sequence[Replica]]:
    """Yield the replicas, standalone and serving, in the block; a failure ends all."""
    pool = await reserve_replicas(replicas)
    try:
        parts = split_resource_pool(pool, [replica.world_size for replica in replicas])
        await _all(replica.init_standalone(part) for replica, part in zip(replicas, parts))
        yield replicas
    finally:
        ends = await asyncio.gather(*(replica.close() for replica in replicas), return_exceptions=True)
        await in_thread(pool.close)
        for problem in ends:
            if problem is not None:
                raise problem


def _one_device(replicas: Sequence[Replica]) -> str:
    """Return the common device of the replicas. Several: ValueError (PW741)."""
    devices = sorted({replica.device for replica in replicas})
    if len(devices) > 1:
        message = f"replicas on {' and '.join(f'`{device}`' for device in devices)} cannot be reserved together"
        raise refused("PW741", "", message, "launch those of each device by themselves", *devices)
    return devices[0]


async def _all(works: Any) -> None:
    """Wait for all; a failure cancels the rest and is raised after their end."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _with_arithmetic(problem: LaunchFailed, replicas: Sequence[Replica], total: int) -> LaunchFailed:
    """Add the possible number of replicas of this size to the failure."""
    shape = replicas[0].shape
    first = problem.findings[0]
    if first.code != "PW702" or len({replica.shape for replica in replicas}) > 1:
        return problem
    possible, count = divide(total, shape.tensor, shape.data, shape.pipeline), len(replicas)
    message = f"{count} {plural('replica', count)} of {possible.size} need{'s' if count == 1 else ''} {count * possible.size} accelerators: {first.message}"
    notes = (f"{possible}", *first.notes)
    fewer = f"start {possible.replicas} {plural('replica', possible.replicas)}, or more nodes"
    help = fewer if 0 < possible.replicas < count else first.help
    return refused("PW702", "rollout_pool", message, help, amount=first.amount, notes=notes)
