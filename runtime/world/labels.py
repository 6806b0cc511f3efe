"""Labels of Ray nodes: name, network topology, accelerators, simulation.

Ray keeps the labels of the start command: `ray start --labels=rack=r1`.
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
"""Topology level -> labels that name the domain; the first existing label counts."""
_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""Values that Ray accepts for a label."""


def name_of(ray: RayNode) -> str:
    """Return the stable name of a node across Ray restarts: label, else host name."""
    return ray.labels.get(NAME_LABEL) or ray.name


def topology_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return topology level -> domain, for a node with these labels."""
    domains = {level: next((labels[name] for name in names if labels.get(name)), "") for level, names in _PLACES.items()}
    return {level: domain for level, domain in domains.items() if domain}


def is_simulated(ray: RayNode) -> bool:
    """Return True for a simulated node, whose accelerators do not exist."""
    return SIMULATED_LABEL in ray.labels


def labels_of(node: Node) -> dict[str, str]:
    """Return the labels of a simulated node; values that a label cannot hold are omitted."""
    labels = {NAME_LABEL: node.name, **{names[0]: node.topology.get(level, "") for level, names in _PLACES.items()}}
    if node.accelerators:
        labels[ACCELERATOR_LABEL] = f"{node.accelerator_type}.{node.accelerator_model or GENERIC}"
    fitting = {name: value for name, value in labels.items() if _VALUE.fullmatch(value)}
    return {RANK_LABEL: str(node.rank), SIMULATED_LABEL: "true", **fitting}
