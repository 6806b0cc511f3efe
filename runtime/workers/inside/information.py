"""What a worker tells of itself and of the hardware that it was given."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

from .address import WorkerAddress

DEVICE_TYPES = {"NV_GPU": "cuda", "AMD_GPU": "cuda", "KUNLUN_XPU": "cuda", "INTEL_GPU": "xpu", "NPU": "npu", "MUSA_GPU": "musa"}
"""The makers of accelerators, as ACCELERATOR_TYPE has them -> what torch calls the device."""


@dataclass
class HardwareInfo:
    """One resource of a worker: ``Accelerator`` or the type of another device, its model, and its settings as attributes."""

    type: str
    model: str
    config: SimpleNamespace


@dataclass
class WorkerInfo:
    """Who a worker is and where. Source of the fields: RLinf, rlinf/scheduler/manager/worker_manager.py.

    `accelerator_rank` is local to the node; `available_accelerators` are counted over all nodes; `node_port` is where the group
    meets, on the node of rank 0.
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


def hardware_of(text: str) -> list[HardwareInfo]:
    """What was given to this process, from LOCAL_HARDWARE."""
    return [HardwareInfo(its["type"], its["model"], SimpleNamespace(**its.get("config", {}))) for its in json.loads(text)]


class AcceleratorType:
    """The maker of the accelerators of the node that this process is on, such as ``NV_GPU``; ``NO_ACCEL`` without any."""

    def __get__(self, instance: object | None, owner: type) -> str:
        return os.environ.get("ACCELERATOR_TYPE", "NO_ACCEL")


class DeviceType:
    """What torch calls these accelerators; None without any."""

    def __get__(self, instance: object | None, owner: type) -> str | None:
        return DEVICE_TYPES.get(os.environ.get("ACCELERATOR_TYPE", ""))


class TorchPlatform:
    """The module of torch for these accelerators, such as `torch.cuda`; None without any, and where there is no torch.

    Asked of the class, it imports nothing: None if the program has not imported torch.
    """

    def __get__(self, instance: object | None, owner: type) -> ModuleType | None:
        name = DEVICE_TYPES.get(os.environ.get("ACCELERATOR_TYPE", ""))
        if name is None:
            return None
        torch = sys.modules.get("torch")
        if torch is None and instance is not None and importlib.util.find_spec("torch"):
            torch = importlib.import_module("torch")
        return getattr(torch, name, None)
