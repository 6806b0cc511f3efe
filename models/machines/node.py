"""One machine, and what it has."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..record import dataclass
from .accelerators import NO_ACCELERATOR, Accelerator
from .node_group import ACCELERATOR, NODE


@dataclass(frozen=True, slots=True)
class Hardware:
    """A device that is not an accelerator, such as a robot: its type and its configuration as written."""

    type: str
    config: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One machine.

    `taken` is a bit mask of the local accelerator indices that other jobs hold; `memory` is host memory in MiB;
    `topology` maps a level (see topology.LEVELS) to the domain that the node is in.
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
        """How many resources of a kind it has; the node itself counts as one resource of kind ``node``."""
        if kind == ACCELERATOR:
            return len(self.accelerators)
        return 1 if kind == NODE else sum(device.type == kind for device in self.hardware)

    def whole(self, kind: str) -> int:
        """All its resources of a kind, as a bit mask."""
        return (1 << self.count(kind)) - 1

    def free(self, kind: str) -> int:
        """Its resources of a kind that no other job holds, as a bit mask."""
        return self.whole(kind) & ~self.taken if kind == ACCELERATOR else self.whole(kind)

    @property
    def numa_domains(self) -> int:
        """Among how many NUMA domains its accelerators are divided; 1 where nothing is known of NUMA, or it has none."""
        return self.accelerators[-1].numa + 1 if self.accelerators else 1

    @property
    def accelerator_type(self) -> str:
        """The vendor of its accelerators, such as ``NV_GPU``; ``NO_ACCEL`` if it has none."""
        return self.accelerators[0].vendor if self.accelerators else NO_ACCELERATOR

    @property
    def accelerator_model(self) -> str:
        """The model of its accelerators, such as ``H100``; "" if it has none."""
        return self.accelerators[0].model if self.accelerators else ""

    @property
    def accelerator_memory(self) -> int | None:
        """MiB of each of its accelerators; None if unknown or there are none."""
        return self.accelerators[0].memory if self.accelerators else None
