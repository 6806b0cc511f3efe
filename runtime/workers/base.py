"""The base class of workers: who a process is, for whoever writes what it does.

It is sent to the workers by travelling.py, to nodes that lack placewright too: it imports the standard library alone, and what
is sent with it.
"""

from __future__ import annotations

import logging
import os
import socket
from typing import Any, Callable

from .from_environment import FromEnvironment, texts


class Worker:
    """One process of a group, the class from which workers of verl and of RLinf derive.

    Who the process is stands in its environment before it is constructed, so every attribute is right from the first line
    of the constructor on, with or without `super().__init__()`, in every class of a process that holds several.

    Attributes
    ----------
    rank, world_size : its place in the group, and how many are in it.
    local_rank, local_world_size : the device that is its own among those that it sees, as LOCAL_RANK says; see rank_environment.
    node_local_rank, node_local_world_size : its place among the group's processes of its node.
    node_rank, cluster_node_rank : of its node, among the group's nodes and among all of them.
    group_name, worker_name : what the group is called, and its process: ``GROUP:RANK`` unless somebody named it otherwise.
    master_address, master_port : where the group meets.
    visible_accelerators : physical ids of what the process sees, in its own order.

    The names with an underscore are RLinf's and verl's own ones, for code that uses them.
    Sources: verl, verl/single_controller/base/worker.py; RLinf, rlinf/scheduler/worker/worker.py. As there, the constructor
    ends the chain of `super().__init__()`.
    """

    fused_worker_attr_name = "fused_worker_dict"

    rank = FromEnvironment("RANK", int)
    world_size = FromEnvironment("WORLD_SIZE", int)
    local_rank = FromEnvironment("LOCAL_RANK", int)
    local_world_size = FromEnvironment("LOCAL_WORLD_SIZE", int)
    node_rank = FromEnvironment("NODE_RANK", int)
    node_local_rank = FromEnvironment("NODE_LOCAL_RANK", int)
    node_local_world_size = FromEnvironment("NODE_LOCAL_WORLD_SIZE", int)
    cluster_node_rank = FromEnvironment("CLUSTER_NODE_RANK", int)
    group_name = FromEnvironment("GROUP_NAME", str)
    worker_name = FromEnvironment("WORKER_NAME", str)
    master_address = FromEnvironment("MASTER_ADDR", str)
    master_port = FromEnvironment("MASTER_PORT", int)
    visible_accelerators = FromEnvironment("VISIBLE_DEVICES", texts)

    _rank = FromEnvironment("RANK", int)
    _world_size = FromEnvironment("WORLD_SIZE", int)
    _local_rank = FromEnvironment("LOCAL_RANK", int)
    _local_world_size = FromEnvironment("LOCAL_WORLD_SIZE", int)
    _node_local_rank = FromEnvironment("NODE_LOCAL_RANK", int)
    _node_local_world_size = FromEnvironment("NODE_LOCAL_WORLD_SIZE", int)
    _cluster_node_rank = FromEnvironment("CLUSTER_NODE_RANK", int)
    _local_accelerator_rank = FromEnvironment("LOCAL_ACCELERATOR_RANK", int)
    _group_name = FromEnvironment("GROUP_NAME", str)
    _worker_name = FromEnvironment("WORKER_NAME", str)
    _master_address = _master_addr = FromEnvironment("MASTER_ADDR", str)
    _master_port = FromEnvironment("MASTER_PORT", str)

    def __init__(self, cuda_visible_devices: str | None = None) -> None:
        """`cuda_visible_devices` takes the place of what the process was given to see, as verl allows it."""
        if cuda_visible_devices is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["VISIBLE_DEVICES"] = cuda_visible_devices
        self.fused_worker_dict: dict[str, Any] = {}

    @classmethod
    def create_group(cls, *arguments: Any, **named: Any) -> Any:
        """A group of this class that `.launch(cluster=..., placement_strategy=..., name=...)` starts; each process is given these arguments.

        Source of the form: RLinf, rlinf/scheduler/worker/worker.py, `create_group`.
        """
        from ..rlinf.group import WorkerGroup

        return WorkerGroup(cls, arguments, named)

    @property
    def has_accelerator(self) -> bool:
        """Does the process see any accelerator?"""
        return bool(self.visible_accelerators)

    def get_name(self) -> str:
        """The name of this process, as RLinf's workers tell it."""
        return self.worker_name

    def get_master_addr_port(self) -> tuple[str, str]:
        """(address, port) where the group meets, both as text: verl's form."""
        return self._master_addr, self._master_port

    def get_cuda_visible_devices(self) -> str:
        """CUDA_VISIBLE_DEVICES as it is now; ``not set`` if it is not: verl's form."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "not set")

    def get_available_master_addr_port(self) -> tuple[str, str]:
        """(address, port): the address at which the group's master reaches this node, and a port that is free right now."""
        family, kind, _, _, master = socket.getaddrinfo(self.master_address, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(master)  # nothing is sent: the system says from which of its addresses it would be
            return str(probe.getsockname()[0]), str(self.acquire_free_port())

    def acquire_free_port(self) -> int:
        """A TCP port of this node that is free right now."""
        with socket.socket() as probe:
            probe.bind(("", 0))
            return int(probe.getsockname()[1])

    def get_fused_worker_by_name(self, worker_name: str) -> Any:
        """The worker of that name which shares this process; None if there is none."""
        return self.fused_worker_dict.get(worker_name)

    def _register_dispatch_collect_info(self, mesh_name: str, dp_rank: int, is_collect: bool) -> None:
        """Says which share of the data of a mesh this process gets, and whether its answer counts. Raises ValueError for a second time."""
        if mesh_name in self._meshes:
            raise ValueError(f"mesh_name {mesh_name} has been registered")
        self._meshes[mesh_name] = dp_rank, is_collect

    def _query_dispatch_info(self, mesh_name: str) -> int:
        """Which share of the data of a mesh this process gets. Raises ValueError for a mesh that was not registered."""
        return self._mesh(mesh_name)[0]

    def _query_collect_info(self, mesh_name: str) -> bool:
        """Does the answer of this process count, for a mesh? Raises ValueError for a mesh that was not registered."""
        return self._mesh(mesh_name)[1]

    query_collect_info = _query_collect_info

    def get_dispatch_collect(self) -> dict[str, dict[str, Any]]:
        """What was registered of every mesh, in the form that set_dispatch_collect takes: verl's form."""
        return {
            "dispatch_dp_rank": {name: dp_rank for name, (dp_rank, _) in self._meshes.items()},
            "collect_dp_rank": {name: is_collect for name, (_, is_collect) in self._meshes.items()},
        }

    def set_dispatch_collect(self, mesh_name: str, dispatch_dp_rank: dict[str, int], collect_dp_rank: dict[str, bool]) -> None:
        """Registers what another worker registered of its one mesh, under this name. Raises ValueError for a second time."""
        for name, dp_rank in dispatch_dp_rank.items():
            self._register_dispatch_collect_info(mesh_name, dp_rank, collect_dp_rank[name])

    def execute_with_func_generator(self, func: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Calls a function with this worker first; a group gives each worker a chunk of the batches."""
        return func(self, *arguments, **named)

    def execute_func_rank_zero(self, func: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Calls a function; a group does so in rank 0 alone."""
        return func(*arguments, **named)

    @property
    def _meshes(self) -> dict[str, tuple[int, bool]]:
        found: dict[str, tuple[int, bool]] = self.__dict__.setdefault("_dispatch_and_collect", {})
        return found

    def _mesh(self, name: str) -> tuple[int, bool]:
        if name not in self._meshes:
            known = ", ".join(self._meshes) or "none"
            raise ValueError(f"mesh_name {name} is not registered in {type(self).__name__}: registered are {known}")
        return self._meshes[name]

    @property
    def _logger(self) -> logging.Logger:
        """A logger with the name of this process, which writes to standard error if the program set up no other way."""
        logger = logging.getLogger(os.environ.get("WORKER_NAME", type(self).__name__))
        if not logger.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter("[%(levelname)s %(asctime)s %(name)s] %(message)s"))
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
        return logger

    def log_debug(self, message: object) -> None:
        """Logs for whoever looks for a fault."""
        self._logger.debug(message, stacklevel=2)

    def log_info(self, message: object) -> None:
        """Logs what is worth knowing."""
        self._logger.info(message, stacklevel=2)

    def log_warning(self, message: object) -> None:
        """Logs what may be wrong."""
        self._logger.warning(message, stacklevel=2)

    def log_error(self, message: object) -> None:
        """Logs what is wrong."""
        self._logger.error(message, stacklevel=2)

    def log_on_first_rank(self, message: object) -> None:
        """Logs it once in a group: in rank 0."""
        if self.rank == 0:
            self._logger.info(message, stacklevel=2)

    def log_on_last_rank(self, message: object) -> None:
        """Logs it once in a group: in the last rank."""
        if self.rank == self.world_size - 1:
            self._logger.info(message, stacklevel=2)
