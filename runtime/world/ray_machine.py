"""A Ray node as a machine: its labels, its resources and its report.

Ray keeps the labels of the start command: `ray start --labels=rack=r1`.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping

from ...models.machines.node import GENERIC, Node
from ..port.port import RANK_LABEL, RANK_LABELS, RayNode
from .machine import Device, Machine
from .nvidia_smi import Matrix, model_of, read_matrix
from .slurm import TOPOLOGY_ADDRESS, TOPOLOGY_PATTERN, topology
from .vendors import RESOURCES, VARIABLES, VENDORS, vendor_counted_as, vendor_of

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


RANK_VARIABLES = ("RLINF_NODE_RANK", "NODE_RANK", "SLURM_NODEID")
LOOKED_AT = (*VARIABLES, *RANK_VARIABLES, TOPOLOGY_ADDRESS, TOPOLOGY_PATTERN)
"""Variables read on a node."""
BUSY = 0.05
"""Share of used memory above which a device is taken; a driver uses less."""
MOST_HARDWARE = 64
_OWN = ("CPU", "memory", "object_store_memory", *RESOURCES)
_TYPE = "accelerator_type:"
Report = Mapping[str, Any]
"""Report of `survey_node` about a node."""


def machine_of(ray: RayNode, report: Report | None = None) -> Machine:
    """Return the machine of a Ray node; without a report, from Ray's knowledge."""
    report = report or {}
    vendor, model = accelerator_of(ray)
    matrix = matrix_of(report)
    devices = tuple(_device(id, model, report, matrix) for id in physical_ids(ray, report))
    names = topology(report.get("environment", {})) | topology_of(ray.labels)
    if report.get("fabric"):
        names.setdefault("nvlink_domain", report["fabric"])
    labels = {name: text for name, text in ray.labels.items() if not _is_our_own(name)}
    cpus = int(ray.total.get("CPU", 0))
    link_groups = matrix.linked if matrix and len(matrix.numa) == len(devices) else ()
    return Machine(name_of(ray), devices, vendor, cpus or None, report.get("memory"), tuple(hardware_of(ray)), labels, names, link_groups)


def resource_of(ray: RayNode) -> str:
    """Return Ray's resource of the node's accelerators: the one with the largest amount."""
    return max(RESOURCES, key=lambda name: ray.total.get(name, 0.0))


def accelerator_of(ray: RayNode) -> tuple[str, str]:
    """Return (vendor or "" if implied, model or ``GPU``) as Ray reports them."""
    if ACCELERATOR_LABEL in ray.labels:
        vendor, _, model = ray.labels[ACCELERATOR_LABEL].partition(".")
        return (vendor if vendor in VENDORS else ""), model or "GPU"
    label = next((name.removeprefix(_TYPE) for name in ray.total if name.startswith(_TYPE)), "")
    label = label or ray.labels.get("ray.io/accelerator-type", "")
    if counted_vendor := vendor_counted_as(resource_of(ray)):
        return counted_vendor, model_of(label)
    return ("INTEL_GPU" if label.startswith("Intel") else "AMD_GPU" if label.startswith("AMD") else ""), model_of(label)


def physical_ids(ray: RayNode, report: Report) -> tuple[str, ...]:
    """Return the physical ids of the node's accelerators: those visible to Ray, else numbers."""
    count = round(ray.total.get(resource_of(ray), 0.0))
    vendor = vendor_of(accelerator_of(ray)[0] or "NV_GPU")
    visible_ids = report.get("environment", {}).get(vendor.variable, "") if vendor else ""
    ids = tuple(filter(None, (id.strip() for id in visible_ids.split(","))))
    return ids[:count] if len(ids) >= count else tuple(map(str, range(count)))


def hardware_of(ray: RayNode) -> Iterator[str]:
    """Yield the type of every device with a small Ray resource, like a robot."""
    for name, amount in sorted(ray.total.items()):
        is_builtin = name in _OWN or ":" in name or name.startswith("bundle") or "_group_" in name
        if not is_builtin and 1 <= amount <= MOST_HARDWARE and amount == int(amount):
            yield from [name] * int(amount)


def matrix_of(report: Report) -> Matrix | None:
    """Return the link matrix of nvidia-smi; None if it is missing or unreadable."""
    try:
        return read_matrix(report["matrix"]) if report.get("matrix") else None
    except ValueError:
        return None


def position_of(id: str, report: Report) -> int | str:
    """Return an accelerator's position among the reported ones; its id if unknown."""
    reported_devices = enumerate(report.get("devices", ()))
    return next((index for index, entry in reported_devices if id == str(index) or ("-" in id and entry["uuid"].startswith(id))), id)


def _device(id: str, model: str, report: Report, matrix: Matrix | None) -> Device:
    position = position_of(id, report)
    if isinstance(position, str):
        return Device(id, model)
    entry = report["devices"][position]
    numa = entry["numa"] or (matrix.numa[position] if matrix and position < len(matrix.numa) else "")
    is_taken = entry["used"] > BUSY * entry["memory"]
    return Device(id, model_of(entry["name"]), entry["memory"], entry["uuid"], numa, is_taken)


def _is_our_own(label: str) -> bool:
    """Return True for labels that are Ray's own, volatile, or read elsewhere."""
    return label.startswith(("ray.io/", "placewright.")) or label in RANK_LABELS or bool(topology_of({label: "x"}))
