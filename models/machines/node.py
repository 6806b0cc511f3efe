"""Node of a cluster with accelerators and further hardware."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..record import dataclass
from .accelerators import NO_ACCELERATOR, Accelerator
from .node_group import ACCELERATOR, NODE


@dataclass(frozen=True, slots=True)
class Hardware:
    """Device besides accelerators, for example a robot: type and configuration as written."""

    type: str
    config: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """Machine of a cluster.

    Attributes
    ----------
    memory : host memory in MiB.
    topology : level (see topology.LEVELS) -> domain of the node.
    taken : bit mask of local accelerator indices that other jobs hold.
    """

    rank: int
    name: str
    accelerators: tuple[Accelerator, ...] = ()
    hardware: tuple[Hardware, ...] = ()
    cpus: int | None = None
    memory: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    topology: Mapping[str, str] = field(default_factory=dict)
    taken: int = 0

    def count(self, kind: str) -> int:
        """Return the number of resources of a kind; 1 for kind ``node``."""
        if kind == ACCELERATOR:
            return len(self.accelerators)
        return 1 if kind == NODE else sum(device.type == kind for device in self.hardware)

    def whole(self, kind: str) -> int:
        """Return all resources of a kind as a bit mask."""
        return (1 << self.count(kind)) - 1

    def free(self, kind: str) -> int:
        """Return the resources of a kind without those of other jobs, as a bit mask."""
        return self.whole(kind) & ~self.taken if kind == ACCELERATOR else self.whole(kind)

    @property
    def numa_domains(self) -> int:
        """Number of NUMA domains of the accelerators; 1 if unknown or without NUMA."""
        return self.accelerators[-1].numa + 1 if self.accelerators else 1

    @property
    def accelerator_type(self) -> str:
        """Vendor of the accelerators, like ``NV_GPU``; ``NO_ACCEL`` without accelerators."""
        return self.accelerators[0].vendor if self.accelerators else NO_ACCELERATOR

    @property
    def accelerator_model(self) -> str:
        """Model of the accelerators, like ``H100``; "" without accelerators."""
        return self.accelerators[0].model if self.accelerators else ""

    @property
    def accelerator_memory(self) -> int | None:
        """MiB per accelerator; None if unknown or without accelerators."""
        return self.accelerators[0].memory if self.accelerators else None
