"""Replica: one inference server with its workers."""

from __future__ import annotations

from contextlib import AsyncExitStack
from enum import Enum
from typing import Any, ClassVar, Mapping, Sequence

from ...models.findings.wording import with_noun
from ..compat.verl.pool import RayResourcePool, Seat, device_there, port_of
from ..compat.verl.worker_classes import RayClassWithInitArgs
from ..compat.verl.worker_group import RayWorkerGroup
from ..engines.engine import ReplicaShape, engine_class, need_serving
from ..failure import LaunchFailed, build_refusal
from ..port.port import Actor
from .loop import run_in_thread
from .settings import Limits
from .wire import MalformedMessage, encode
from .worker import ReplicaWorker


def nodes_of(world_size: int, gpus_per_node: int, subject: str) -> tuple[int, int]:
    """Return (nodes, accelerators per node) of a replica.

    Raises a ValueError (PW741) unless it fills nodes evenly. verl checks only that nodes are
    filled, and treats a replica across the border of two nodes as a single node. Source: verl,
    workers/rollout/replica.py, `RolloutReplica.__init__`.
    """
    if not isinstance(gpus_per_node, int) or gpus_per_node < 1 or (world_size % gpus_per_node and gpus_per_node % world_size):
        message = f"a replica of {world_size} accelerators does not fit nodes of {gpus_per_node}: neither divides the other"
        help = "choose degrees whose product divides the accelerators of a node, or is a multiple of them"
        raise build_refusal("PW741", subject, message, help, world_size, gpus_per_node)
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


class Replica:
    """Inference server with its workers, on one or several nodes.

    Each node has a server: the first is the master, the others are headless. `engine` is the name
    of the engine.

    Parameters
    ----------
    replica_rank : number of the replica.
    config : `tensor_model_parallel_size`, `data_parallel_size`, `pipeline_model_parallel_size`, 1
        each by default; `host`, the master's listening address, by default that of its node;
        `port`, by default any free port; `api_key`, which clients must send; and each of the
        Limits. A mapping, or an object with these attributes.
    model_config : `path`, whose last part is the served name unless `served_model_name` is given,
        and the engine's own settings.
    gpus_per_node : maximal number of accelerators per node. A larger replica takes several nodes.
    is_reward_model : marks the names of the replica.
    on : HOST:PORT of the cluster, or a cluster object; else that of `ray.init`.
    device_name : ``cuda`` (AMD's too), ``npu``, ``xpu`` or ``musa``; default: the cluster's own
        accelerators.

    Once it serves, `server_address` is its HTTP endpoint ``ip:port``, with brackets around an IPv6
    address, and `server_handle` the actor of the master server, for token input and output.

    It ends, with all that it started, by `close`, at the end of an `async with` block, or with this
    process. Raises LaunchFailed: PW741 (a ValueError) for a degree that is not a positive whole number,
    for a size that does not fill nodes evenly, and for a configuration that the engine cannot
    serve; PW740 if a library is missing here. Source of the modes, the names and the flow: verl,
    workers/rollout/replica.py, `RolloutReplica`.
    """

    engine: ClassVar[str]

    def __init__(
        self, replica_rank: int, config: Any, model_config: Any, gpus_per_node: int = 8, is_reward_model: bool = False, *,
        on: Any = None, device_name: str | None = None,
    ) -> None:  # fmt: skip
        need_serving()
        self.replica_rank = replica_rank
        self.config = config
        self.model_config = model_config
        self.gpus_per_node = gpus_per_node
        self.is_reward_model = is_reward_model
        self.on = on
        self.device_name = device_name
        self.shape = ReplicaShape(*(degree(config, name, self.subject) for name in DEGREES))
        self.nnodes, self.gpus_per_replica_node = nodes_of(self.world_size, gpus_per_node, self.subject)
        self.model = _plain(model_config)
        check_plain(self.model, self.subject)
        self.limits = Limits.of(lambda name, default: setting(config, name, default), self.subject)
        engine_class(self.engine).check(self.model, self.shape, self.nnodes)
        self.rollout_mode: RolloutMode | None = None
        self.worker_group: RayWorkerGroup | None = None
        self.resource_pool: RayResourcePool | None = None
        self.workers: Sequence[Actor] = []
        self.servers: list[Actor] = []
        self._seats: list[Seat] = []
        self._own_pool: RayResourcePool | None = None
        self._own_group: RayWorkerGroup | None = None
        self.server_address = ""
        self.server_handle: Actor = None
        self._servers: Any = None

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
    def model_name(self) -> str:
        """Name of the served model."""
        path = str(self.model.get("path") or self.engine).rstrip("/")
        return str(self.model.get("served_model_name") or path.rpartition("/")[2])

    def get_ray_class_with_init_args(self) -> RayClassWithInitArgs:
        """Return the class of the workers, for the modes that start workers."""
        return RayClassWithInitArgs(ReplicaWorker)

    async def launch_servers(self) -> None:
        """Start a server on every node; set `servers` and the endpoint."""
        from .channel import host_port

        host, port = await run_in_thread(self._launch_servers, stop=self._stop_launching)
        self.servers = self._servers.handles
        self.server_handle = self.servers[0]
        self.server_address = host_port(host, port)

    def _stop_launching(self) -> None:
        """End the servers: a model may take half an hour to load."""
        if self._servers is not None:
            self._servers.kill()

    def _launch_servers(self) -> tuple[str, int]:
        from .servers import Servers, access
        from .settings import ServerSettings

        group = self.worker_group
        if group is None:
            raise build_refusal("PW741", self.subject, f"{self.subject} has no workers", "call one of its init methods")
        first = self.world_size * self.replica_rank if self._own_group is None else 0
        master = self._seats[0].node.address
        workers = access(group.group, range(first, first + self.world_size), master if self.nnodes > 1 else "")
        settings = [
            ServerSettings(
                self.engine, self.model, self.model_name, self.shape, node, self.nnodes,
                () if node else tuple(workers), str(setting(self.config, "host", "")), master, int(setting(self.config, "port", 0)),
                setting(self.config, "api_key", None), self.limits,
            )
            for node in range(self.nnodes)
        ]  # fmt: skip
        name = f"{self.engine}_server_{'reward_' if self.is_reward_model else ''}{self.replica_rank}"
        self._servers = Servers(group.port, name, self.node_seats, settings)
        address: tuple[str, int] = self._servers.launch()
        return address

    async def stop_servers(self) -> None:
        """End the servers of `launch_servers`. Idempotent."""
        servers, self._servers = self._servers, None
        if servers is not None:
            await run_in_thread(servers.close)

    async def sleep(self) -> None:
        """Release the memory that only answering needs; requests are refused until `wake_up`."""
        await run_in_thread(self._servers.ask, "sleep")

    async def wake_up(self) -> None:
        """Answer again."""
        await run_in_thread(self._servers.ask, "wake_up")

    async def clear_kv_cache(self) -> None:
        """Clear the engine's cache of earlier prompts, which new weights invalidate."""
        await run_in_thread(self._servers.ask, "clear_kv_cache")

    async def init_hybrid(self, worker_group: RayWorkerGroup) -> None:
        """Serve from a trainer's processes of this rank, which outlive the replica."""
        self.rollout_mode = RolloutMode.HYBRID
        seats: Sequence[Seat] = getattr(worker_group.group, "seats", ())
        first = self.world_size * self.replica_rank
        if len(seats) < first + self.world_size:
            message = f"{self.subject} needs workers {first}-{first + self.world_size - 1} of a group on a pool; this one has {len(seats)}"
            raise build_refusal("PW741", self.subject, message, "start the group with a resource_pool, large enough for all replicas")
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
                raise build_refusal("PW741", self.subject, message, "give it a pool, or a part of one, of its own size")
            self.resource_pool = pool
            await run_in_thread(self._start_workers, pool)
        except LaunchFailed as problem:
            await self.close()
            raise self._build_failure(problem) from problem
        except BaseException:
            await self.close()
            raise
        await self._launch(pool.seats())

    def _build_failure(self, problem: LaunchFailed) -> LaunchFailed:
        """Return the failure; a taken name is reported for the replica, whose rank causes it."""
        first = problem.findings[0]
        if first.code != "PW717":
            return problem
        message = f"there is a {self.subject} already: {first.message}"
        return build_refusal("PW717", self.subject, message, "close that one, or give each a replica_rank of its own", self.replica_rank)

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
                    raise build_refusal("PW741", self.subject, message, "give it places that are whole on each of its nodes")
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
            for part in (self._own_pool, self._own_group):
                if part is not None:
                    ends.push_async_callback(run_in_thread, part.close)
            ends.push_async_callback(self.stop_servers)
        self.servers, self.workers, self.server_address, self.server_handle = [], [], "", None

    async def __aenter__(self) -> Replica:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def degree(config: Any, name: str, subject: str) -> int:
    """Return a degree of parallelism, 1 by default. Invalid: ValueError (PW741)."""
    value = setting(config, name, 1)
    if not str(value).isdecimal() or int(value) < 1:
        raise build_refusal("PW741", subject, f"`{name}` of {subject} is {value!r}", "give a whole number of at least 1", name)
    return int(value)


def setting(config: Any, name: str, default: Any) -> Any:
    """Return a value of a mapping or an object, or the default for None."""
    value = config.get(name) if isinstance(config, Mapping) or hasattr(config, "get") else getattr(config, name, None)
    return default if value is None else value


class EchoReplica(Replica):
    """Replica that answers with the request itself."""

    engine = "echo"


class VllmReplica(Replica):
    """Replica of vLLM; on several nodes, headless on all but the first."""

    engine = "vllm"


class SglangReplica(Replica):
    """Replica of SGLang; on several nodes, with its own processes on all of them."""

    engine = "sglang"


REPLICAS: Mapping[str, type[Replica]] = {cls.engine: cls for cls in (EchoReplica, VllmReplica, SglangReplica)}


def get_replica_class(name: str) -> type[Replica]:
    """Return the replica class of an engine. Unknown: ValueError (PW741)."""
    if name not in REPLICAS:
        raise build_refusal("PW741", name, f"there are no replicas of `{name}`", f"use one of {', '.join(REPLICAS)}", name)
    return REPLICAS[name]


get_rollout_replica_class = get_replica_class
"""verl's name of the function."""


def check_plain(model: Mapping[str, Any], subject: str) -> None:
    """Raise ValueError (PW741) for model settings that cannot be sent to workers."""
    for name, value in model.items():
        try:
            encode(value)
        except MalformedMessage as problem:
            message = f"`{name}` of the model of {subject} {problem}"
            raise build_refusal("PW741", subject, message, "give numbers, text, and lists and dicts of them", name) from None


def _plain(model_config: Any) -> dict[str, Any]:
    """Convert a path, a mapping, or an object with attributes to a dict."""
    if model_config is None or isinstance(model_config, str):
        return {"path": model_config} if model_config else {}
    if isinstance(model_config, Mapping) or hasattr(model_config, "keys"):
        return {str(name): model_config[name] for name in model_config}
    return dict(vars(model_config))
