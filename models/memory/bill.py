"""What a design needs of the memory of its accelerators: block by block and part by part of an iteration, against what there is."""

from __future__ import annotations

from ..planning.design import Block
from ..record import dataclass
from .estimated import with_slack
from .terms import Term

WORKS, KEPT, RESIDENT = "works", "kept", "resident"
"""It works in this part of the iteration; it waits, and keeps some of its memory; it holds all of its memory, whatever runs."""
DECLARED, ESTIMATED, SILENT = "declared", "estimated", "not known"
"""Where an amount comes from: the file, an estimate; or nobody says it, and it is counted as nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one component needs on each accelerator in one part: MiB, why, and where the number comes from.

    `terms` are those of an estimate that are there in this part. An estimate is here as it is, without its slack.
    """

    component: str
    mebibytes: int
    state: str
    origin: str
    terms: tuple[Term, ...] = ()

    @property
    def demanded(self) -> int:
        """MiB that must be there for it: those of an estimate with their slack."""
        return with_slack(self.mebibytes) if self.origin == ESTIMATED else self.mebibytes


@dataclass(frozen=True, slots=True)
class Moment:
    """One part of the iteration: parts 0, 1, ... run one after the other. Where components take turns in it, the turn that needs most.

    `segment` is None for a turn of components of which nobody says how long they take: all that is known is its `phase`.
    """

    segment: int | None
    entries: tuple[Entry, ...]
    phase: str = ""

    @property
    def mebibytes(self) -> int:
        """MiB that are needed on each accelerator."""
        return sum(entry.mebibytes for entry in self.entries)

    @property
    def demanded(self) -> int:
        """The same, with the slack of estimates."""
        return sum(entry.demanded for entry in self.entries)


@dataclass(frozen=True, slots=True)
class BlockBill:
    """The bill of one block of a design, of each of its accelerators. `capacity` is None where nobody knows it.

    `models` : those of its accelerators as they were placed, where their kind does not say it; else none.
    """

    block: Block
    capacity: int | None
    moments: tuple[Moment, ...]
    models: tuple[str, ...] = ()

    @property
    def peak(self) -> Moment:
        """The part in which most is needed, the first of those."""
        return max(self.moments, key=lambda moment: moment.mebibytes)

    @property
    def tight(self) -> bool:
        """Is less left than the slack of its estimates?"""
        return self.capacity is not None and max(moment.demanded for moment in self.moments) > self.capacity
