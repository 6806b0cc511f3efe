"""Visibility variables and Ray resources of accelerator makers.

Sources: Ray 2.60, python/ray/_private/accelerators; RLinf, rlinf/scheduler/hardware/accelerators
for the two makers that Ray does not know (Moore Threads, Kunlun).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from ...models.machines.node import NO_ACCELERATOR


@dataclass(frozen=True, slots=True)
class Vendor:
    """Visibility `variable`, switches against Ray setting it, Ray `resource` of a maker."""

    variable: str
    switches: tuple[str, ...]
    resource: str = "GPU"

    def list_variables(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the variables that restrict a process to these accelerators, in this order."""
        bounds = _TPU_BOUNDS.get(len(ids), {}) if self.resource == "TPU" else {}
        return {self.variable: ",".join(ids), **bounds}


def _vendor(variable: str, resource: str = "GPU", *more: str) -> Vendor:
    return Vendor(variable, tuple(f"RAY_EXPERIMENTAL_NOSET_{name}" for name in (variable, *more)), resource)


VENDORS = {
    "NV_GPU": _vendor("CUDA_VISIBLE_DEVICES"),
    "AMD_GPU": _vendor("HIP_VISIBLE_DEVICES", "GPU", "ROCR_VISIBLE_DEVICES"),
    "INTEL_GPU": _vendor("ZE_AFFINITY_MASK", "GPU", "ONEAPI_DEVICE_SELECTOR"),
    "NPU": _vendor("ASCEND_RT_VISIBLE_DEVICES", "NPU"),
    "MUSA_GPU": _vendor("MUSA_VISIBLE_DEVICES"),
    "KUNLUN_XPU": _vendor("CUDA_VISIBLE_DEVICES"),
    "HPU": _vendor("HABANA_VISIBLE_MODULES", "HPU"),
    "TPU": _vendor("TPU_VISIBLE_CHIPS", "TPU"),
    "NEURON_CORE": _vendor("NEURON_RT_VISIBLE_CORES", "neuron_cores"),
}
_TPU_BOUNDS = {
    1: {"TPU_CHIPS_PER_HOST_BOUNDS": "1,1,1", "TPU_HOST_BOUNDS": "1,1,1"},
    2: {"TPU_CHIPS_PER_HOST_BOUNDS": "1,2,1", "TPU_HOST_BOUNDS": "1,1,1"},
}
"""Number of chips of a process -> layout on the host, unless all are used."""
BENEATH = ("ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR")
"""Further hiding variables, beneath or above the makers' own (AMD, Intel), which Ray leaves
alone.
"""
VARIABLES = tuple(dict.fromkeys(vendor.variable for vendor in VENDORS.values()))
"""All visibility variables, without duplicates."""
RESOURCES = tuple(dict.fromkeys(vendor.resource for vendor in VENDORS.values()))
"""All resources by which Ray counts accelerators, without duplicates."""


def vendor_counted_as(resource: str) -> str:
    """Return the accelerator type of a Ray resource; "" for ``GPU``, shared by several makers."""
    return "" if resource == "GPU" else next((name for name, vendor in VENDORS.items() if vendor.resource == resource), "")


def vendor_of(accelerator_type: str) -> Vendor | None:
    """Return the Vendor of a type; None for ``NO_ACCEL``, NVIDIA's for an unknown one."""
    if accelerator_type == NO_ACCELERATOR:
        return None
    return VENDORS.get(accelerator_type, VENDORS["NV_GPU"])
