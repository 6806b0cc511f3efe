"""A node of Ray as a machine: what Ray tells of it, and what was seen by looking there."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from ..port.node import RANK_LABELS, RayNode
from .labels import ACCELERATOR_LABEL, name_of, topology_of
from .machine import Device, Machine
from .sources.model_names import model_of
from .sources.slurm import TOPOLOGY_ADDRESS, TOPOLOGY_PATTERN, topology
from .sources.topology_matrix import Matrix, read_matrix
from .vendors import RESOURCES, VARIABLES, VENDORS, vendor_counted_as, vendor_of

RANK_VARIABLES = ("RLINF_NODE_RANK", "NODE_RANK", "SLURM_NODEID")
LOOKED_AT = (*VARIABLES, *RANK_VARIABLES, TOPOLOGY_ADDRESS, TOPOLOGY_PATTERN)
"""The variables that are asked for on a node."""
BUSY = 0.05
"""A device of whose memory a larger part is in use is taken; a driver alone uses less."""
MOST_HARDWARE = 64
_OWN = ("CPU", "memory", "object_store_memory", *RESOURCES)
_TYPE = "accelerator_type:"
Report = Mapping[str, Any]
"""What on_node/look.py says of a node."""


def machine_of(ray: RayNode, report: Report | None = None) -> Machine:
    """The machine that a Ray node is; without a report, what Ray itself tells."""
    report = report or {}
    vendor, model = accelerator_of(ray)
    matrix = matrix_of(report)
    devices = tuple(_device(id, model, report, matrix) for id in ids_of(ray, report))
    names = topology(report.get("environment", {})) | topology_of(ray.labels)
    if report.get("fabric"):
        names.setdefault("nvlink_domain", report["fabric"])
    labels = {name: text for name, text in ray.labels.items() if not _is_our_own(name)}
    cpus = int(ray.total.get("CPU", 0))
    linked = matrix.linked if matrix and len(matrix.numa) == len(devices) else ()
    return Machine(name_of(ray), devices, vendor, cpus or None, report.get("memory"), tuple(hardware_of(ray)), labels, names, linked)


def resource_of(ray: RayNode) -> str:
    """Ray's name for the node's accelerators: that of which it has most."""
    return max(RESOURCES, key=lambda name: ray.total.get(name, 0.0))


def accelerator_of(ray: RayNode) -> tuple[str, str]:
    """(vendor, model) of the node's accelerators as Ray tells them; "" for a vendor that the model tells, ``GPU`` for an unknown model."""
    if ACCELERATOR_LABEL in ray.labels:
        vendor, _, model = ray.labels[ACCELERATOR_LABEL].partition(".")
        return (vendor if vendor in VENDORS else ""), model or "GPU"
    told = next((name.removeprefix(_TYPE) for name in ray.total if name.startswith(_TYPE)), "")
    told = told or ray.labels.get("ray.io/accelerator-type", "")
    if counted := vendor_counted_as(resource_of(ray)):
        return counted, model_of(told)
    return ("INTEL_GPU" if told.startswith("Intel") else "AMD_GPU" if told.startswith("AMD") else ""), model_of(told)


def ids_of(ray: RayNode, report: Report) -> tuple[str, ...]:
    """The physical ids of the node's accelerators: those that Ray was started to see, else their numbers."""
    count = round(ray.total.get(resource_of(ray), 0.0))
    vendor = vendor_of(accelerator_of(ray)[0] or "NV_GPU")
    shown = report.get("environment", {}).get(vendor.variable, "") if vendor else ""
    ids = tuple(filter(None, (id.strip() for id in shown.split(","))))
    return ids[:count] if len(ids) >= count else tuple(map(str, range(count)))


def hardware_of(ray: RayNode) -> Iterator[str]:
    """The type of each device that is a resource of its own in Ray, such as a robot; of large amounts none, they are no devices."""
    for name, amount in sorted(ray.total.items()):
        ours = name in _OWN or ":" in name or name.startswith("bundle") or "_group_" in name
        if not ours and 1 <= amount <= MOST_HARDWARE and amount == int(amount):
            yield from [name] * int(amount)


def matrix_of(report: Report) -> Matrix | None:
    """What nvidia-smi tells of the links on the node; None if it is not there, or says something else."""
    try:
        return read_matrix(report["matrix"]) if report.get("matrix") else None
    except ValueError:
        return None


def _device(id: str, model: str, report: Report, matrix: Matrix | None) -> Device:
    seen = list(report.get("devices", ()))
    position = next((which for which, each in enumerate(seen) if id == str(which) or ("-" in id and each["uuid"].startswith(id))), None)
    if position is None:
        return Device(id, model)
    its = seen[position]
    numa = its["numa"] or (matrix.numa[position] if matrix and position < len(matrix.numa) else "")
    taken = its["used"] > BUSY * its["memory"]
    return Device(id, model_of(its["name"]), its["memory"], its["uuid"], numa, taken)


def _is_our_own(label: str) -> bool:
    """Is the label said elsewhere, or Ray's own, or one that changes with every start?"""
    return label.startswith(("ray.io/", "placewright.")) or label in RANK_LABELS or bool(topology_of({label: "x"}))
