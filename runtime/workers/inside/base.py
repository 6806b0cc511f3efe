"""The base class of workers: who a process is, for whoever writes what it does.

It is sent to the workers by travelling.py, to nodes that lack placewright too: it imports the standard library alone, and what
is sent with it.
"""

from __future__ import annotations

import os
from typing import Any, Callable

from .address import WorkerAddress
from .elsewhere import refusal
from .from_environment import FromEnvironment, Told, numbers, texts
from .information import AcceleratorType, DeviceType, HardwareInfo, TorchPlatform, WorkerInfo, hardware_of
from .locks import DeviceLock, free_port
from .logs import Logged
from .meshes import OnMeshes
from .timers import Timed
from .verls import VerlsOwn


class Worker(Timed, Logged, OnMeshes, VerlsOwn):
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
    global_accelerator_ids : of these, their ranks among the accelerators of all nodes; in groups of RLinf's words.
    accelerator_type, torch_device_type, torch_platform : the maker of its node's accelerators, what torch calls them, and torch's
        module for them.

    The names with an underscore are RLinf's and verl's own ones, for code that uses them. What RLinf's workers can do and these
    cannot, such as `send`, raises NotOffered with the reason when it is called.
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
    global_accelerator_ids = FromEnvironment("GLOBAL_ACCELERATOR_RANKS", numbers)
    accelerator_type = AcceleratorType()
    torch_device_type = DeviceType()
    torch_platform = TorchPlatform()

    _rank = FromEnvironment("RANK", int)
    _world_size = FromEnvironment("WORLD_SIZE", int)
    _local_rank = FromEnvironment("LOCAL_RANK", int)
    _local_world_size = FromEnvironment("LOCAL_WORLD_SIZE", int)
    _node_local_rank = FromEnvironment("NODE_LOCAL_RANK", int)
    _node_local_world_size = FromEnvironment("NODE_LOCAL_WORLD_SIZE", int)
    _cluster_node_rank = FromEnvironment("CLUSTER_NODE_RANK", int)
    _local_accelerator_rank = FromEnvironment("LOCAL_ACCELERATOR_RANK", int)
    _local_hardware_ranks = FromEnvironment("LOCAL_HARDWARE_RANKS", numbers)
    _accelerator_type = AcceleratorType()
    _accelerator_model = FromEnvironment("ACCELERATOR_MODEL", str)
    _isolate_gpu = FromEnvironment("ISOLATE_ACCELERATOR", lambda text: text == "1")
    _group_name = FromEnvironment("GROUP_NAME", str)
    _worker_name = FromEnvironment("WORKER_NAME", str)
    _master_address = _master_addr = FromEnvironment("MASTER_ADDR", str)
    _master_port = FromEnvironment("MASTER_PORT", str)

    def __init__(
        self, cuda_visible_devices: str | None = None, world_size: int | None = None, rank: int | None = None,
        parent_address: WorkerAddress | None = None,
    ) -> None:  # fmt: skip
        """A process of a group; with `parent_address`, `world_size` and `rank`, one that a worker has started by other means.

        `cuda_visible_devices` takes the place of what the process was given to see, as verl allows it; RLinf has `parent_address` there.
        """
        if isinstance(cuda_visible_devices, WorkerAddress):
            parent_address, cuda_visible_devices = cuda_visible_devices, None
        if cuda_visible_devices is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["VISIBLE_DEVICES"] = cuda_visible_devices
        if parent_address is not None:
            self._become_child(parent_address, world_size, rank)
        self.fused_worker_dict: dict[str, Any] = {}

    def _become_child(self, parent: WorkerAddress, world_size: int | None, rank: int | None) -> None:
        """Takes the name of a child, and its place among the children if these are numbered; it has no device of its own then.

        Source of the rule: RLinf, rlinf/scheduler/worker/worker.py.
        """
        self._worker_address = parent.get_child_address(self._rank if rank is None else rank)
        self.worker_name = self._worker_name = self._worker_address.get_name()
        self.group_name = self._group_name = parent.get_name()
        if rank is not None and world_size is not None:
            self.rank = self._rank = rank
            self.world_size = self._world_size = world_size
            self.local_rank = self._local_rank = self.local_world_size = self._local_world_size = -1

    @classmethod
    def create_group(cls, *arguments: Any, **named: Any) -> Any:
        """A group of this class that `.launch(cluster=..., placement_strategy=..., name=...)` starts; each process is given these arguments.

        Source of the form: RLinf, rlinf/scheduler/worker/worker.py, `create_group`.
        """
        from ...rlinf.group import WorkerGroup

        return WorkerGroup(cls, arguments, named)

    @Told
    def has_accelerator(self) -> bool:
        """Does the process see any accelerator?"""
        return bool(self.visible_accelerators)

    @Told
    def worker_address(self) -> WorkerAddress:
        """The name of this process as a path. Raises ValueError for a process whose name is no such path, as in groups of verl's words."""
        found: WorkerAddress | None = self.__dict__.get("_worker_address")
        return found or WorkerAddress.from_name(self._worker_name)

    def get_name(self) -> str:
        """The name of this process, as RLinf's workers tell it."""
        return self.worker_name

    def get_parent_rank(self) -> int:
        """The rank of the worker that started this one; 0 if none did."""
        return self.worker_address.get_parent_rank()

    @Told
    def hardware_infos(self) -> list[HardwareInfo]:
        """The accelerators, robots or other devices that it was given, with their settings; in groups of RLinf's words."""
        return hardware_of(os.environ.get("LOCAL_HARDWARE", "[]"))

    @Told
    def hardware_type(self) -> str | None:
        """What is counted in the node group through which it was placed, such as ``Accelerator``; None where nodes are."""
        return os.environ.get("HARDWARE_TYPE") or None

    @Told
    def _node_group(self) -> Any:
        """The node group through which it was placed; in groups of RLinf's words."""
        from ...rlinf.cluster import Cluster

        return Cluster().get_node_group(os.environ["NODE_GROUP_LABEL"])

    @Told
    def worker_info(self) -> WorkerInfo:
        """Who it is and where, in one object."""
        return WorkerInfo(
            self.worker_address, self._rank, self._world_size, self._cluster_node_rank, self._accelerator_type, self._accelerator_model,
            self._local_accelerator_rank, os.environ["NODE_ADDRESS"], self.master_port, self.global_accelerator_ids, self.hardware_infos,
        )  # fmt: skip

    @Told
    def device_lock(self) -> DeviceLock:
        """A lock on the accelerators that it sees, among all processes of its node that see them: ``with self.device_lock:``."""
        held: DeviceLock = self.__dict__.setdefault(
            "_placewright_lock", DeviceLock([f"{_node()}/{id}" for id in self.visible_accelerators])
        )
        return held

    def get_master_addr_port(self) -> tuple[str, str]:
        """(address, port) where the group meets, both as text: verl's form."""
        return self._master_addr, self._master_port

    def get_cuda_visible_devices(self) -> str:
        """CUDA_VISIBLE_DEVICES as it is now; ``not set`` if it is not: verl's form."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "not set")

    def acquire_free_port(self, max_port_num: int | None = None) -> int:
        """A TCP port of this node that is free right now, at most `max_port_num`, and given to no other worker of the node."""
        return free_port(_node(), max_port_num)

    @staticmethod
    def check_worker_alive(worker_name: str) -> bool:
        """Does a worker of this name run?"""
        import ray

        return any(actor["name"] == worker_name for actor in ray.util.list_named_actors(all_namespaces=True))

    def get_fused_worker_by_name(self, worker_name: str) -> Any:
        """The worker of that name which shares this process; None if there is none."""
        return self.fused_worker_dict.get(worker_name)

    def execute_with_func_generator(self, func: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Calls a function with this worker first; a group gives each worker a chunk of the batches."""
        return func(self, *arguments, **named)

    def execute_func_rank_zero(self, func: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Calls a function; a group does so in rank 0 alone."""
        return func(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        """What is found nowhere else. Raises NotOffered for what RLinf's workers have and these have not."""
        if not hasattr(type(self), name) and (refused := refusal(name)) is not None:
            return refused
        return object.__getattribute__(self, name)  # raises what was raised the first time


def _node() -> str:
    """This node, as no other node is called, though several were simulated on one machine."""
    import ray

    return str(ray.get_runtime_context().get_node_id()) if ray.is_initialized() else "here"
