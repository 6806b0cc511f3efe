"""Memory bill of a design, per block and segment, against the capacity."""

from __future__ import annotations

from ..planning.design import Block
from ..record import dataclass
from .estimated import with_slack
from .terms import MemoryTerm

WORKS, KEPT, RESIDENT = "works", "kept", "resident"
"""States: working, keeping some memory while waiting, or holding all memory always."""
DECLARED, ESTIMATED, SILENT = "declared", "estimated", "not known"
"""Origins of an amount: the file, an estimate, or unknown (counted as 0)."""


@dataclass(frozen=True, slots=True)
class ComponentMemory:
    """Memory of a component per accelerator in a segment: MiB, state and origin.

    `terms` are the terms of an estimate that exist in this segment. An estimate has no slack here.
    """

    component: str
    mebibytes: int
    state: str
    origin: str
    terms: tuple[MemoryTerm, ...] = ()

    @property
    def demanded(self) -> int:
        """MiB to reserve; an estimate includes slack."""
        return with_slack(self.mebibytes) if self.origin == ESTIMATED else self.mebibytes


@dataclass(frozen=True, slots=True)
class SegmentMemory:
    """Memory in a segment of the iteration, in the turn with the highest need.

    Segments 0, 1, ... run one after the other. `segment` is None for a turn of components without
    times: only its `phase` is known.
    """

    segment: int | None
    entries: tuple[ComponentMemory, ...]
    phase: str = ""

    @property
    def mebibytes(self) -> int:
        """MiB needed per accelerator."""
        return sum(entry.mebibytes for entry in self.entries)

    @property
    def demanded(self) -> int:
        """MiB needed per accelerator, with the slack of estimates."""
        return sum(entry.demanded for entry in self.entries)


@dataclass(frozen=True, slots=True)
class BlockBill:
    """Memory bill of a block of a design, per accelerator.

    `capacity` is None if unknown. `models`: models of the accelerators as placed, if their kind
    does not name them.
    """

    block: Block
    capacity: int | None
    moments: tuple[SegmentMemory, ...]
    models: tuple[str, ...] = ()

    @property
    def peak(self) -> SegmentMemory:
        """First segment with the highest need."""
        return max(self.moments, key=lambda moment: moment.mebibytes)

    @property
    def tight(self) -> bool:
        """True if less than the slack of the estimates remains."""
        return self.capacity is not None and max(moment.demanded for moment in self.moments) > self.capacity
