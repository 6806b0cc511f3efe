"""Base class of workers.

It is sent to the workers by value, also to nodes without placewright: it imports only the
standard library and code that is sent along.
"""

from __future__ import annotations

import json
import os
from typing import Any

from . import information
from .information import (
    AssignableProperty,
    ClassProperty,
    FromEnvironment,
    HardwareInfo,
    WorkerAddress,
    WorkerInfo,
    hardware_of,
    numbers,
    texts,
)
from .mixins import DeviceLock, LoggingMixin, OnMeshes, TimedBlocks, free_port, refusal


class Worker(TimedBlocks, LoggingMixin, OnMeshes):
    """Process of a group; base class of the workers of verl and of RLinf.

    The identity is in the environment before construction, so every attribute is right from the
    first line of the constructor on, with or without `super().__init__()`, in every class of a
    process that holds several.

    Attributes
    ----------
    rank, world_size : rank in the group, and size of the group.
    local_rank, local_world_size : own device among the visible ones, as LOCAL_RANK says; see
        rank_environment.
    node_local_rank, node_local_world_size : rank among the group's processes of the node, and their
        number.
    node_rank, cluster_node_rank : rank of the node among the group's nodes, and among all nodes.
    group_name, worker_name : name of the group, and of the process: ``GROUP:RANK`` by default.
    master_address, master_port : rendezvous of the group.
    visible_accelerators : physical ids of the visible accelerators, in the process's own order.
    global_accelerator_ids : ranks of these among the accelerators of all nodes; in RLinf groups.
    accelerator_type, torch_device_type, torch_platform : maker of the node's accelerators, torch's
        name for them, and torch's module for them.

    Names with an underscore are RLinf's and verl's own, for code that uses them. Features of
    RLinf's workers that are missing here, such as `send`, raise NotOffered with the reason when
    called. Sources: verl, verl/single_controller/base/worker.py; RLinf,
    rlinf/scheduler/worker/worker.py. As there, the constructor ends the chain of
    `super().__init__()`.
    """

    # RLinf's names stand first, so that a message about a missing variable has the public name
    _rank = rank = FromEnvironment("RANK", int)
    _world_size = world_size = FromEnvironment("WORLD_SIZE", int)
    _local_rank = local_rank = FromEnvironment("LOCAL_RANK", int)
    _local_world_size = local_world_size = FromEnvironment("LOCAL_WORLD_SIZE", int)
    node_rank = FromEnvironment("NODE_RANK", int)
    _node_local_rank = node_local_rank = FromEnvironment("NODE_LOCAL_RANK", int)
    _node_local_world_size = node_local_world_size = FromEnvironment("NODE_LOCAL_WORLD_SIZE", int)
    _cluster_node_rank = cluster_node_rank = FromEnvironment("CLUSTER_NODE_RANK", int)
    _group_name = group_name = FromEnvironment("GROUP_NAME", str)
    _worker_name = worker_name = FromEnvironment("WORKER_NAME", str)
    _master_address = _master_addr = master_address = FromEnvironment("MASTER_ADDR", str)
    _master_port = FromEnvironment("MASTER_PORT", str)
    master_port = FromEnvironment("MASTER_PORT", int)
    visible_accelerators = FromEnvironment("VISIBLE_DEVICES", texts)
    global_accelerator_ids = FromEnvironment("GLOBAL_ACCELERATOR_RANKS", numbers)
    _accelerator_type = accelerator_type = ClassProperty(information.accelerator_type)
    torch_device_type = ClassProperty(information.device_type)
    torch_platform = ClassProperty(information.torch_platform)
    _local_accelerator_rank = FromEnvironment("LOCAL_ACCELERATOR_RANK", int)
    _accelerator_model = FromEnvironment("ACCELERATOR_MODEL", str)

    def __init__(self, cuda_visible_devices: str | None = None) -> None:
        """Construct a process of a group; `cuda_visible_devices` overrides its visible devices, as in verl."""
        if cuda_visible_devices is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["VISIBLE_DEVICES"] = cuda_visible_devices

    @classmethod
    def create_group(cls, *arguments: Any, **keywords: Any) -> Any:
        """Return an unlaunched group of this class; every process is constructed with these
        arguments.

        Start it with `.launch(cluster=..., placement_strategy=..., name=...)`. Source of the form:
        RLinf, rlinf/scheduler/worker/worker.py, `create_group`.
        """
        from ...compat.rlinf.group import WorkerGroup

        return WorkerGroup(cls, arguments, keywords)

    @AssignableProperty
    def worker_address(self) -> WorkerAddress:
        """Return this process's name as a path. No path, as in verl: ValueError."""
        return WorkerAddress.from_name(self._worker_name)

    def get_name(self) -> str:
        """Return the name of this process; RLinf's form."""
        return self.worker_name

    @AssignableProperty
    def hardware_infos(self) -> list[HardwareInfo]:
        """Return the granted devices with settings; in RLinf groups."""
        return hardware_of(json.loads(os.environ.get("LOCAL_HARDWARE", "[]")))

    @AssignableProperty
    def worker_info(self) -> WorkerInfo:
        """Return identity and location in a single object."""
        return WorkerInfo(
            self.worker_address, self._rank, self._world_size, self._cluster_node_rank, self._accelerator_type, self._accelerator_model,
            self._local_accelerator_rank, os.environ["NODE_ADDRESS"], self.master_port, self.global_accelerator_ids, self.hardware_infos,
        )  # fmt: skip

    @AssignableProperty
    def device_lock(self) -> DeviceLock:
        """Return a node-wide lock on the visible accelerators, for a `with` block."""
        lock: DeviceLock = self.__dict__.setdefault(
            "_placewright_lock", DeviceLock([f"{_node()}/{id}" for id in self.visible_accelerators])
        )
        return lock

    def get_cuda_visible_devices(self) -> str:
        """Return the current CUDA_VISIBLE_DEVICES, or ``not set``: verl's form."""
        return os.environ.get("CUDA_VISIBLE_DEVICES", "not set")

    def acquire_free_port(self, max_port_num: int | None = None) -> int:
        """Return a free TCP port, at most `max_port_num`, unique among the node's workers."""
        return free_port(_node(), max_port_num)

    def __getattr__(self, name: str) -> Any:
        """Refuse features that only RLinf's workers have (NotOffered)."""
        if not hasattr(type(self), name) and (refused_feature := refusal(name)) is not None:
            return refused_feature
        return object.__getattribute__(self, name)  # raises the original AttributeError


def _node() -> str:
    """Return Ray's id of this node, different even for nodes simulated on a machine."""
    import ray

    return str(ray.get_runtime_context().get_node_id()) if ray.is_initialized() else "here"
