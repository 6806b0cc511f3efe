"""Nodes and their hardware as RLinf's programs ask for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Mapping, Sequence

import yaml

from ...models.machines.node import Hardware, Node
from ...models.machines.node_group import ACCELERATOR
from ..port.node import RayNode
from ..workers.inside.information import HardwareInfo


@dataclass(frozen=True)
class HardwareResource:
    """All devices of one type of a node."""

    type: str
    infos: list[HardwareInfo]

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.infos)


@dataclass(frozen=True)
class NodeInfo:
    """A node of a cluster. Source of the names: RLinf, rlinf/scheduler/cluster/node.py."""

    node_rank: int
    ray_id: str
    node_ip: str
    num_cpus: int
    num_accelerators: int
    accelerator_type: str
    accelerator_model: str
    hardware_resources: list[HardwareResource] = field(default_factory=list)


def node_info(node: Node, ray: RayNode) -> NodeInfo:
    """What RLinf's programs may know of a node."""
    kinds = dict.fromkeys([ACCELERATOR] * bool(node.accelerators) + [device.type for device in node.hardware])
    resources = [HardwareResource(kind, [_info(its) for its in hardware_on(node, kind, range(node.count(kind)))]) for kind in kinds]
    return NodeInfo(
        node.rank, ray.node_id, ray.address, int(ray.total.get("CPU", 0)), len(node.accelerators), node.accelerator_type,
        node.accelerator_model, resources,
    )  # fmt: skip


def hardware_on(node: Node, kind: str, local_ranks: Sequence[int]) -> list[dict[str, Any]]:
    """These resources of a kind, as plain data: type, model, and the settings of devices that are no accelerators."""
    if kind == ACCELERATOR:
        return [{"type": kind, "model": node.accelerators[rank].model} for rank in local_ranks]
    devices = [device for device in node.hardware if device.type == kind]
    return [{"type": kind, "model": kind, "config": _settings(devices[rank])} for rank in local_ranks if devices]


def _info(its: Mapping[str, Any]) -> HardwareInfo:
    return HardwareInfo(its["type"], its["model"], SimpleNamespace(**its.get("config", {})))


def _settings(device: Hardware) -> dict[str, Any]:
    """The settings with the types that they were written with."""
    return {name: _value(text) for name, text in device.config}


def _value(text: str) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (bool, int, float, list, dict)) else text
