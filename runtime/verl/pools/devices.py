"""Device names of verl and resource names of Ray."""

from __future__ import annotations

from ....models.machines.accelerators import NO_ACCELERATOR
from ...port.node import RayNode
from ...refusal import refused
from ...world.vendors import vendor_of

DEVICES = {"cuda": "NV_GPU", "npu": "NPU", "xpu": "INTEL_GPU", "musa": "MUSA_GPU"}
"""Device name -> accelerator type; PyTorch, and so verl, calls AMD's ``cuda`` too."""
MODELS = {"AMD-": "AMD_GPU", "Intel-GPU": "INTEL_GPU"}
"""Prefix of a model that Ray tells apart -> accelerator type.

Source: Ray, python/ray/util/accelerators/accelerators.py.
"""


def resource_of(device_name: str) -> str:
    """Return Ray's resource of a device.

    Raises a ValueError (PW718) for an unknown device, which no node would ever have.
    """
    if device_name not in DEVICES:
        known = ", ".join(f"`{name}`" for name in DEVICES)
        message = f"there are no accelerators of device `{device_name}`"
        raise refused("PW718", "", message, f"use one of {known}, or a pool with use_gpu=False", device_name)
    vendor = vendor_of(DEVICES[device_name])
    return vendor.resource if vendor else ""


def type_on(node: RayNode, device_name: str) -> str:
    """Return the accelerator type of a device on a node; ``NO_ACCEL`` without a device.

    AMD's and Intel's are known by Ray's model label.
    """
    if not device_name:
        return NO_ACCELERATOR
    models = [name.removeprefix("accelerator_type:") for name in node.total if name.startswith("accelerator_type:")]
    known = [kind for start, kind in MODELS.items() for model in models if model.startswith(start)]
    return known[0] if known and device_name == "cuda" else DEVICES[device_name]
