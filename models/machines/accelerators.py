"""Known accelerator models: vendor and memory by name.

Vendor names are those of RLinf's accelerator types (rlinf/scheduler/hardware/accelerators). RLinf
does not know the last three; their names are Ray's.
"""

from __future__ import annotations

from ..record import dataclass

NO_ACCELERATOR = "NO_ACCEL"
GENERIC = "GPU"

# GiB of memory as the maker states it; the memory of other models is unknown, never guessed.
_NVIDIA = {
    "B200": 180, "GB200": 186, "H200": 141, "H100": 80, "H800": 80, "H20": 96, "GH200": 96, "A100": 80, "A100-40GB": 40, "A800": 80,
    "L40S": 48, "L40": 48, "L20": 48, "L4": 24, "A40": 48, "A10": 24, "A6000": 48, "V100": 32, "T4": 16,
    "5090": 32, "4090": 24, "4080": 16, "3090": 24, "RTX5090": 32, "RTX4090": 24, "RTX3090": 24,
}  # fmt: skip
_AMD = {"MI355X": 288, "MI325X": 256, "MI300X": 192, "MI300A": 128, "MI250X": 128}
_ASCEND = {"910B": 64, "910C": 128}
_GAUDI = {"GAUDI2": 96, "GAUDI3": 128}
_TPU = {"TPU-V4": 32, "TPU-V5LITEPOD": 16, "TPU-V5P": 95, "TPU-V6E": 32}
NUMBERS = tuple(sorted(model for model in _NVIDIA if model.isdigit()))
"""Models named by a number alone, like ``4090``."""
_MAKERS = {"NV_GPU": _NVIDIA, "AMD_GPU": _AMD, "NPU": _ASCEND, "HPU": _GAUDI, "TPU": _TPU}


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Accelerator of a node.

    Attributes
    ----------
    index : number on the node.
    physical_id : text for the vendor's visibility variable.
    model : name such as ``H100``.
    memory : MiB; None if unknown.
    vendor : accelerator type such as ``NV_GPU``.
    numa : number of its NUMA domain on the node.
    """

    index: int
    physical_id: str
    model: str
    memory: int | None
    vendor: str
    numa: int = 0


def vendor_of(model: str) -> str:
    """Return the accelerator type of a model name; NV_GPU if unknown."""
    return next((vendor for vendor, models in _MAKERS.items() if model.upper() in models), "NV_GPU")


def memory_of(model: str) -> int | None:
    """Return the MiB of a model name; None if unknown."""
    for table in _MAKERS.values():
        if model.upper() in table:
            return table[model.upper()] * 1024
    return None


def accelerators(
    count: int, model: str = GENERIC, memory: int | None = None, ids: tuple[str, ...] = (), numa: int = 1
) -> tuple[Accelerator, ...]:
    """Return `count` equal accelerators.

    Parameters
    ----------
    model : model name, with the vendor in front as in RLinf: ``NV_GPU:H100``.
    memory : MiB, overrides the known memory of the model.
    ids : physical ids (default 0, 1, ...).
    numa : number of NUMA domains, filled in order and as evenly as possible.
    """
    vendor, _, name = model.rpartition(":")
    vendor = vendor or vendor_of(name)
    known = memory if memory is not None else memory_of(name)
    return tuple(Accelerator(i, ids[i] if ids else str(i), name, known, vendor, i * numa // max(count, 1)) for i in range(count))
