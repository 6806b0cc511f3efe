"""What labels of a Ray node mean here: its name, its place in the network, its accelerators, and that it is simulated.

Ray keeps the labels with which a node was started: `ray start --labels=rack=r1`.
"""

from __future__ import annotations

import re
from typing import Mapping

from ...models.machines.accelerators import GENERIC
from ...models.machines.node import Node
from ..port.node import RANK_LABEL, RayNode

NAME_LABEL = "placewright.node-name"
ACCELERATOR_LABEL = "placewright.accelerator"
"""VENDOR.MODEL, such as ``NV_GPU.H100``."""
SIMULATED_LABEL = "placewright.simulated"
_PLACES = {
    "zone": ("placewright.zone", "zone", "topology.kubernetes.io/zone", "ray.io/availability-zone"),
    "rack": ("placewright.rack", "rack", "topology.kubernetes.io/rack"),
    "nvlink_domain": ("placewright.nvlink-domain", "nvlink_domain", "ray.io/gpu-domain", "nvidia.com/gpu.clique"),
}
"""Level of the topology -> the labels that name its domain, the first that is there counts."""
_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""What Ray takes for the value of a label."""


def name_of(ray: RayNode) -> str:
    """The name of a node that stays the same from one start of Ray to the next: its label, else its host name."""
    return ray.labels.get(NAME_LABEL) or ray.name


def topology_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Level of the topology -> the domain of the node with these labels."""
    found = {level: next((labels[name] for name in names if labels.get(name)), "") for level, names in _PLACES.items()}
    return {level: domain for level, domain in found.items() if domain}


def is_simulated(ray: RayNode) -> bool:
    """Is the node one of several on one machine, whose accelerators do not exist?"""
    return SIMULATED_LABEL in ray.labels


def labels_of(node: Node) -> dict[str, str]:
    """The labels with which a simulated node says what it stands for. What a label cannot hold is left out."""
    labels = {NAME_LABEL: node.name, **{names[0]: node.topology.get(level, "") for level, names in _PLACES.items()}}
    if node.accelerators:
        labels[ACCELERATOR_LABEL] = f"{node.accelerator_type}.{node.accelerator_model or GENERIC}"
    fitting = {name: value for name, value in labels.items() if _VALUE.fullmatch(value)}
    return {RANK_LABEL: str(node.rank), SIMULATED_LABEL: "true", **fitting}
