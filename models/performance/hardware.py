"""Accelerators by model: speed, memory and links, each from its maker's data sheet, without sparsity."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from ..record import dataclass
from ..text.nearest import nearest

TERA, GIGA = 1e12, 1e9


@dataclass(frozen=True, slots=True)
class AcceleratorSpeed:
    """Figures of one accelerator; 0 if it has none of it.

    Attributes
    ----------
    bf16, fp8 : dense operations a second, in 10^12.
    memory : GiB.
    bandwidth : of the memory, in 10^12 bytes a second.
    link : inside the node or NVLink domain, in 10^9 bytes a second, both directions together.
    host : to the memory of the host, both directions together.
    network : to other nodes, each direction, for one accelerator. No data sheet has it: usual
        machines, with one adapter an accelerator; assumed unless the cluster file has it.
    domain : accelerators that `link` joins; 0 for those of a node.
    source : data sheet.
    """

    bf16: float
    fp8: float
    memory: float
    bandwidth: float
    link: float
    host: float
    network: float
    domain: float = 0
    source: str = ""


_HGX_H100 = "NVIDIA H100 Tensor Core GPU data sheet (SXM5)"
_LIMITED = "as sold in China: the same but for NVLink of 400 GB/s; Lenovo ThinkSystem product guides"
SPEEDS: Mapping[str, AcceleratorSpeed] = {
    "A100": AcceleratorSpeed(312, 0, 80, 2.039, 600, 64, 25, source="NVIDIA A100 80GB SXM data sheet"),
    "A100-40GB": AcceleratorSpeed(312, 0, 40, 1.555, 600, 64, 25, source="NVIDIA A100 40GB SXM data sheet"),
    "A800": AcceleratorSpeed(312, 0, 80, 2.039, 400, 64, 25, source=f"NVIDIA A100 80GB SXM data sheet; {_LIMITED}"),
    "H100": AcceleratorSpeed(989, 1979, 80, 3.35, 900, 128, 50, source=_HGX_H100),
    "H800": AcceleratorSpeed(989, 1979, 80, 3.35, 400, 128, 50, source=f"{_HGX_H100}; {_LIMITED}"),
    "H200": AcceleratorSpeed(989, 1979, 141, 4.8, 900, 128, 50, source="NVIDIA H200 Tensor Core GPU data sheet (SXM)"),
    "H20": AcceleratorSpeed(148, 296, 96, 4.0, 900, 128, 50, source="Lenovo ThinkSystem NVIDIA H20 product guide"),
    "B200": AcceleratorSpeed(2250, 4500, 180, 8.0, 1800, 128, 50, source="NVIDIA DGX B200 data sheet (an eighth of it)"),
    "GB200": AcceleratorSpeed(2500, 5000, 186, 8.0, 1800, 900, 50, 72, source="NVIDIA GB200 NVL72 data sheet (a 72nd of it; NVLink-C2C to the host)"),
    "L40S": AcceleratorSpeed(362, 733, 48, 0.864, 64, 64, 12.5, source="NVIDIA L40S data sheet (PCIe 4 x16 alone)"),
    "4090": AcceleratorSpeed(165, 330, 24, 1.008, 64, 64, 3, source="NVIDIA Ada GPU architecture whitepaper, appendix A (32-bit sums; PCIe 4 x16 alone)"),
    "MI300X": AcceleratorSpeed(1307, 2615, 192, 5.3, 896, 128, 50, source="AMD Instinct MI300X data sheet"),
    "910B": AcceleratorSpeed(320, 0, 64, 1.6, 392, 64, 25, source="Huawei Ascend 910B: no data sheet is public; arXiv 2505.21411 (Pangu Pro MoE) and vendors' pages, 320 to 376"),
}  # fmt: skip
"""Model -> figures."""
SAME = {"RTX4090": "4090", "A100-80GB": "A100", "H100-80GB": "H100", "GH200": "H200"}
"""Other names -> the model with the same figures, or with those of its accelerator."""
FIGURES = ("bf16", "fp8", "memory", "bandwidth", "link", "host", "network", "domain")


def speed_of(model: str, figures: Mapping[str, float] | None = None) -> AcceleratorSpeed | None:
    """Return the figures of a model, or of a cluster file; None if unknown.

    All of bf16, memory, bandwidth and link make an unknown model known; what is left is then that
    of an H100.
    """
    overrides = dict(figures or {})
    data_sheet = SPEEDS.get(SAME.get(model.upper(), model.upper()))
    if data_sheet is None and not all(overrides.get(name) for name in ("bf16", "memory", "bandwidth", "link")):
        return None
    base = data_sheet or replace(SPEEDS["H100"], fp8=0, domain=0, source="")
    return replace(base, **overrides, source="; ".join(filter(None, (base.source, "the cluster file" if overrides else ""))))


def nearest_model(model: str) -> str | None:
    """Return the known model with a name like this one; None if none is near."""
    return nearest(model.upper(), (*SPEEDS, *SAME))
