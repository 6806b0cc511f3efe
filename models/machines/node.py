"""Nodes of a cluster with accelerators and further hardware.

Vendor names are those of RLinf's accelerator types (rlinf/scheduler/hardware/accelerators). RLinf
does not know the last three; their names are Ray's. Alike nodes are stored once and expanded on access.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field, fields
from functools import lru_cache
from itertools import accumulate
from typing import Collection, Iterable, Iterator, Mapping, Sequence, overload

from ..record import dataclass, replace
from .node_group import ACCELERATOR, NODE

NO_ACCELERATOR = "NO_ACCEL"
GENERIC = "GPU"

# GiB of memory as the maker states it; the memory of other models is unknown, never guessed.
_NVIDIA = {
    "B200": 180, "GB200": 186, "H200": 141, "H100": 80, "H800": 80, "H20": 96, "GH200": 96, "A100": 80, "A100-40GB": 40, "A800": 80,
    "L40S": 48, "L40": 48, "L20": 48, "L4": 24, "A40": 48, "A10": 24, "A6000": 48, "V100": 32, "T4": 16,
    "5090": 32, "4090": 24, "4080": 16, "3090": 24, "RTX5090": 32, "RTX4090": 24, "RTX3090": 24,
}  # fmt: skip
_AMD = {"MI355X": 288, "MI325X": 256, "MI300X": 192, "MI300A": 128, "MI250X": 128}
_ASCEND = {
    f"{prefix}{name}": memory
    for prefix in ("", "ASCEND", "ASCEND-", "ASCEND_")
    for name, memory in {"910B": 64, "910B1": 64, "910B2": 64, "910B2C": 64, "910B3": 64, "910B4": 32, "910C": 128}.items()
}
_GAUDI = {"GAUDI2": 96, "GAUDI3": 128}
_TPU = {"TPU-V4": 32, "TPU-V5LITEPOD": 16, "TPU-V5P": 95, "TPU-V6E": 32}
NUMBERS = tuple(sorted(model for model in _NVIDIA if model.isdigit()))
"""Models named by a number alone, like ``4090``."""
_MAKERS = {"NV_GPU": _NVIDIA, "AMD_GPU": _AMD, "NPU": _ASCEND, "HPU": _GAUDI, "TPU": _TPU}
_BRANDS = {
    "NV_GPU": {"NVIDIA", "TESLA", "GEFORCE", "RTX", "B300", "GB300", "A30", "A10G", "P100"},
    "AMD_GPU": {"AMD", "INSTINCT", "MI308X", "MI350X"}, "NPU": {"ASCEND", "ASCEND910", "910A"}, "HPU": {"GAUDI"}, "TPU": {"TPU"},
}  # fmt: skip
"""Further words in names of models, by vendor."""


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
    speed : figures of the cluster file that replace those of the model's data sheet, by name.
    """

    index: int
    physical_id: str
    model: str
    memory: int | None
    vendor: str
    numa: int = 0
    speed: tuple[tuple[str, float], ...] = ()


def find_vendor(model: str) -> str | None:
    """Return the accelerator type of a name like ``A100-SXM4-80GB``; None if unknown."""
    words = {model.upper(), *re.split(r"[\s_-]+", model.upper())}
    return next((vendor for vendor, models in _MAKERS.items() if words & (models.keys() | _BRANDS[vendor])), None)


def vendor_of(model: str) -> str:
    """Return the accelerator type of a model name; NV_GPU if unknown."""
    return find_vendor(model) or "NV_GPU"


def memory_of(model: str) -> int | None:
    """Return the MiB of a model name; None if unknown."""
    for table in _MAKERS.values():
        if model.upper() in table:
            return table[model.upper()] * 1024
    return None


@lru_cache(maxsize=64)
def accelerators(
    count: int,
    model: str = GENERIC,
    memory: int | None = None,
    ids: tuple[str, ...] = (),
    numa: int = 1,
    speed: tuple[tuple[str, float], ...] = (),
) -> tuple[Accelerator, ...]:
    """Return `count` equal accelerators.

    Parameters
    ----------
    model : model name, with the vendor in front as in RLinf: ``NV_GPU:H100``.
    memory : MiB, overrides the known memory of the model.
    ids : physical ids (default 0, 1, ...).
    numa : number of NUMA domains, filled in order and as evenly as possible.
    speed : figures in place of the data sheet's.
    """
    vendor, _, name = model.rpartition(":")
    vendor = vendor or vendor_of(name)
    memory_each = memory if memory is not None else memory_of(name)
    return tuple(
        Accelerator(i, ids[i] if ids else str(i), name, memory_each, vendor, i * numa // max(count, 1), speed) for i in range(count)
    )


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


_ALIKE = tuple(field.name for field in fields(Node) if field.name not in ("rank", "name"))


@dataclass(frozen=True, slots=True)
class EqualNodes:
    """Stretch of `count` consecutive nodes that differ only in rank and name.

    `node` is the first node. The others have the names `prefix` followed by the numbers after
    `number`.
    """

    node: Node
    count: int = 1
    prefix: str = ""
    number: int = 0

    @property
    def stop(self) -> int:
        """Rank after the last node."""
        return self.node.rank + self.count

    def name(self, offset: int) -> str:
        """Return the name of the node `offset` ranks after the first."""
        return f"{self.prefix}{self.number + offset}" if offset else self.node.name

    def at(self, offset: int) -> Node:
        """Return the node `offset` ranks after the first."""
        first = self.node
        if not offset:
            return first
        return Node(
            first.rank + offset, self.name(offset), first.accelerators, first.hardware,
            first.cpus, first.memory, first.labels, first.topology, first.taken,
        )  # fmt: skip

    def cut(self, start: int, stop: int) -> EqualNodes:
        """Return the stretch from rank `start` to `stop` (exclusive), inside this stretch."""
        offset = start - self.node.rank
        return EqualNodes(self.at(offset), stop - start, self.prefix, self.number + offset)


def numbered_nodes(node: Node, count: int, prefix: str = "node-", number: int | None = None) -> EqualNodes:
    """Return `count` nodes like `node`, named by rank, or from `number` on."""
    first = node.rank if number is None else number
    return EqualNodes(replace(node, name=f"{prefix}{first}"), count, prefix, first)


class Nodes(Sequence[Node]):
    """Nodes of consecutive ranks, in order; equal to any sequence of the same nodes."""

    __slots__ = ("_starts", "alike")
    alike: tuple[EqualNodes, ...]
    """Stretches of alike nodes, in rank order."""

    def __init__(self, stretches: Iterable[EqualNodes]) -> None:
        self.alike = tuple(stretches)
        self._starts = list(accumulate((stretch.count for stretch in self.alike), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        if isinstance(index, slice):
            positions = range(len(self))[index]
            if positions.step != 1:
                return tuple(self[position] for position in positions)
            first = self.alike[0].node.rank if self.alike else 0
            return self._cut(range(first + positions.start, first + positions.stop))
        position, offset = self._locate(index)
        return self.alike[position].at(offset)

    def _cut(self, ranks: range) -> Nodes:
        return Nodes(stretch.cut(part.start, part.stop) for stretch, part in parts(self.alike, ranks))

    def name(self, index: int) -> str:
        """Return the name of a node without building the node."""
        position, offset = self._locate(index)
        return self.alike[position].name(offset)

    def _locate(self, index: int) -> tuple[int, int]:
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"node {index} of {len(self)}")
        stretch = bisect_right(self._starts, position) - 1
        return stretch, position - self._starts[stretch]

    def __iter__(self) -> Iterator[Node]:
        return (stretch.at(offset) for stretch in self.alike for offset in range(stretch.count))

    def __eq__(self, value: object) -> bool:
        if isinstance(value, Nodes) and self.alike == value.alike:
            return True
        if not isinstance(value, (Nodes, tuple, list)):
            return NotImplemented
        return len(self) == len(value) and all(left == right for left, right in zip(self, value))

    def __repr__(self) -> str:
        return f"Nodes({list(self.alike)!r})"

    def equip(self, devices: Mapping[int, Sequence[Hardware]], types: Collection[str]) -> Nodes:
        """Return the nodes with devices by rank, which replace all hardware of these types."""
        stretches = [stretch for stretch in self.alike if any(device.type in types for device in stretch.node.hardware)]
        ranks = devices.keys() | {rank for stretch in stretches for rank in range(stretch.node.rank, stretch.stop)}
        other_devices = {rank: [device for device in self[rank].hardware if device.type not in types] for rank in ranks}
        return (
            self.replace(replace(self[rank], hardware=(*other_devices[rank], *devices.get(rank, ()))) for rank in ranks) if ranks else self
        )

    def replace(self, nodes: Iterable[Node]) -> Nodes:
        """Return the nodes with some replaced, by rank."""
        stretches: list[EqualNodes] = []
        next_rank = self.alike[0].node.rank if self.alike else 0
        for node in sorted(nodes, key=lambda node: node.rank):
            stretches += [*self._cut(range(next_rank, node.rank)).alike, EqualNodes(node)]
            next_rank = node.rank + 1
        return Nodes([*stretches, *self._cut(range(next_rank, self.alike[-1].stop)).alike]) if self.alike else self


def stretches_of(nodes: Sequence[Node]) -> tuple[EqualNodes, ...]:
    """Return nodes as stretches of alike nodes; names, except the first, are not compared."""
    stretches: list[EqualNodes] = []
    for stretch in nodes.alike if isinstance(nodes, Nodes) else map(EqualNodes, nodes):
        if stretches and _are_alike(stretches[-1].node, stretch.node):
            stretches[-1] = EqualNodes(stretches[-1].node, stretches[-1].count + stretch.count)
        else:
            stretches.append(stretch)
    return tuple(stretches)


def parts(stretches: Sequence[EqualNodes], ranks: range) -> Iterator[tuple[EqualNodes, range]]:
    """Yield (stretch, overlap) for stretches in a range of ranks."""
    position = max(bisect_right(stretches, ranks.start, key=lambda stretch: stretch.node.rank) - 1, 0) if len(stretches) > 1 else 0
    while position < len(stretches) and (first := stretches[position].node.rank) < ranks.stop:
        stretch = stretches[position]
        if part := range(max(ranks.start, first), min(ranks.stop, stretch.stop)):
            yield stretch, part
        position += 1


def _are_alike(first: Node, second: Node) -> bool:
    return all(getattr(first, name) is getattr(second, name) or getattr(first, name) == getattr(second, name) for name in _ALIKE)
