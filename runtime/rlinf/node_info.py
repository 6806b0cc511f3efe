"""Nodes and hardware with the names of RLinf's interface."""

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
    """All devices of a type on a node."""

    type: str
    infos: list[HardwareInfo]

    @property
    def count(self) -> int:
        """Number of devices."""
        return len(self.infos)


@dataclass(frozen=True)
class NodeInfo:
    """Node of a cluster. Source of the names: RLinf, rlinf/scheduler/cluster/node.py."""

    node_rank: int
    ray_id: str
    node_ip: str
    num_cpus: int
    num_accelerators: int
    accelerator_type: str
    accelerator_model: str
    hardware_resources: list[HardwareResource] = field(default_factory=list)


def node_info(node: Node, ray: RayNode) -> NodeInfo:
    """Return RLinf's description of a node."""
    kinds = dict.fromkeys([ACCELERATOR] * bool(node.accelerators) + [device.type for device in node.hardware])
    resources = [
        HardwareResource(kind, [_info(description) for description in hardware_on(node, kind, range(node.count(kind)))]) for kind in kinds
    ]
    return NodeInfo(
        node.rank, ray.node_id, ray.address, int(ray.total.get("CPU", 0)), len(node.accelerators), node.accelerator_type,
        node.accelerator_model, resources,
    )  # fmt: skip


def hardware_on(node: Node, kind: str, local_ranks: Sequence[int]) -> list[dict[str, Any]]:
    """Return devices of a kind as plain data: type, model, settings of other hardware."""
    if kind == ACCELERATOR:
        return [{"type": kind, "model": node.accelerators[rank].model} for rank in local_ranks]
    devices = [device for device in node.hardware if device.type == kind]
    return [{"type": kind, "model": kind, "config": _settings(devices[rank])} for rank in local_ranks if devices]


def _info(description: Mapping[str, Any]) -> HardwareInfo:
    return HardwareInfo(description["type"], description["model"], SimpleNamespace(**description.get("config", {})))


def _settings(device: Hardware) -> dict[str, Any]:
    """Return the settings with the types of their YAML spelling."""
    return {name: _value(text) for name, text in device.config}


def _value(text: str) -> Any:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if isinstance(value, (bool, int, float, list, dict)) else text
