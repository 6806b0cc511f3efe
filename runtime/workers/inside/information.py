"""Facts that a worker knows of itself: name, environment variables, hardware."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from functools import total_ordering
from types import ModuleType, SimpleNamespace
from typing import Any, Callable, Generic, Mapping, Sequence, TypeVar, overload

SEPARATOR = ":"


@total_ordering
class WorkerAddress:
    """Name of a group plus ranks that lead to a worker: ``actor:3``.

    Attributes
    ----------
    root_group_name : name of the group.
    rank_path : rank in the group, then rank among the children of that worker, and so on; empty for
        the group.
    rank : last rank of the path; 0 for the group.

    Raises ValueError for a group name with a colon. Source of the form: RLinf,
    rlinf/scheduler/manager/worker_manager.py.
    """

    def __init__(self, root_group_name: str, ranks: int | Sequence[int] = ()) -> None:
        if SEPARATOR in root_group_name:
            raise ValueError(f"the name of a group has no `{SEPARATOR}`, which divides it from the ranks: `{root_group_name}`")
        self.root_group_name = root_group_name
        self.rank_path = [ranks] if isinstance(ranks, int) else list(ranks)
        self.rank = self.rank_path[-1] if self.rank_path else 0

    @classmethod
    def from_name(cls, worker_name: str) -> WorkerAddress:
        """Parse an address. Raises ValueError if a rank is not a number."""
        group, *ranks = worker_name.split(SEPARATOR)
        return cls(group, [int(rank) for rank in ranks])

    def get_name(self) -> str:
        """Return the address as text."""
        return SEPARATOR.join([self.root_group_name, *map(str, self.rank_path)])

    def _key(self) -> tuple[str, tuple[int, ...]]:
        return self.root_group_name, tuple(self.rank_path)

    def __eq__(self, value: object) -> bool:
        return isinstance(value, WorkerAddress) and self._key() == value._key()

    def __lt__(self, value: WorkerAddress) -> bool:
        return self._key() < value._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"<WorkerAddress {self.get_name()}>"


Value = TypeVar("Value")


class AssignableProperty(Generic[Value]):
    """Method read as an attribute, until a user's class assigns a value."""

    def __init__(self, method: Callable[[Any], Value]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> AssignableProperty[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> AssignableProperty[Value] | Value:
        return self if instance is None else self.method(instance)


class FromEnvironment(AssignableProperty[Value]):
    """Attribute that reads an environment variable on access, unless a value was assigned.

    Raises AttributeError, which names the variable, if that is unset: outside a worker group.
    """

    def __init__(self, variable: str, read: Callable[[str], Value]) -> None:
        self.variable = variable
        self.read = read
        self.name = variable.lower()

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def method(self, instance: object) -> Value:
        """Return the value of the variable."""
        text = os.environ.get(self.variable)
        if text is None:
            cls = type(instance).__name__
            raise AttributeError(
                f"`{cls}.{self.name}` is known only in a process of a worker group: "
                f"start the class with `{cls}.create_group().launch(...)`, `RayWorkerGroup` or `launch`"
            )
        return self.read(text)


def texts(text: str) -> tuple[str, ...]:
    """Split a text at commas."""
    return tuple(part for part in text.split(",") if part)


def numbers(text: str) -> list[int]:
    """Parse a comma-separated list of whole numbers."""
    return [int(part) for part in texts(text)]


DEVICE_TYPES = {"NV_GPU": "cuda", "AMD_GPU": "cuda", "KUNLUN_XPU": "cuda", "INTEL_GPU": "xpu", "NPU": "npu", "MUSA_GPU": "musa"}
"""Accelerator type, as in ACCELERATOR_TYPE -> device type of torch."""


@dataclass
class HardwareInfo:
    """Device of a worker: type (``Accelerator`` or another), model, and settings as attributes."""

    type: str
    model: str
    config: SimpleNamespace


@dataclass
class WorkerInfo:
    """Identity and location of a worker.

    Source of the fields: RLinf, rlinf/scheduler/manager/worker_manager.py. `accelerator_rank` is
    local to the node; `available_accelerators` are counted over all nodes; `node_port` is the
    rendezvous port on the node of rank 0.
    """

    address: WorkerAddress
    rank: int
    group_world_size: int
    cluster_node_rank: int
    accelerator_type: str
    accelerator_model: str
    accelerator_rank: int
    node_ip: str
    node_port: int
    available_accelerators: list[int]
    hardware_infos: list[HardwareInfo]


def hardware_of(devices: Sequence[Mapping[str, Any]]) -> list[HardwareInfo]:
    """Return devices given as plain data, as in LOCAL_HARDWARE."""
    return [HardwareInfo(device["type"], device["model"], SimpleNamespace(**device.get("config", {}))) for device in devices]


class ClassProperty(Generic[Value]):
    """Attribute computed on access, by (object or None, class), until a value is assigned."""

    def __init__(self, read: Callable[[object | None, type], Value]) -> None:
        self.read = read

    def __get__(self, instance: object | None, owner: type) -> Value:
        return self.read(instance, owner)


def accelerator_type(instance: object | None, owner: type) -> str:
    """Return the accelerator type of this process's node, like ``NV_GPU``, or ``NO_ACCEL``."""
    return os.environ.get("ACCELERATOR_TYPE", "NO_ACCEL")


def device_type(instance: object | None, owner: type) -> str | None:
    """Return the device type of torch for the accelerators; None without accelerators."""
    return DEVICE_TYPES.get(os.environ.get("ACCELERATOR_TYPE", ""))


def torch_platform(instance: object | None, owner: type) -> ModuleType | None:
    """Return torch's module for the accelerators, such as `torch.cuda`, or None.

    Read from the class, it imports nothing: None if the program has not imported torch.
    """
    name = device_type(instance, owner)
    if name is None:
        return None
    torch = sys.modules.get("torch")
    if torch is None and instance is not None and importlib.util.find_spec("torch"):
        torch = importlib.import_module("torch")
    return getattr(torch, name, None)
