"""Which resource ranks a component names, taken together: RLinf's model-parallel placement sees nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from ....machines.cluster import Cluster
from ....placements.assignment import Run


@dataclass(frozen=True, slots=True)
class Extent:
    """The resource ranks of a component: `first` to `last`, `count` of them named. It is solid if there are no holes."""

    first: int
    last: int
    count: int

    @property
    def solid(self) -> bool:
        """Is every rank between the first and the last named?"""
        return self.count == self.last - self.first + 1

    @property
    def size(self) -> int:
        """How many ranks there are from the first to the last."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def extent_of(runs: Sequence[Run], cluster: Cluster, labels: tuple[str, ...]) -> Extent:
    """The extent of these runs in the numbering of their node groups. Several processes may share a resource."""
    starts: dict[tuple[int, str], int] = {}
    total = 0
    for stretch in cluster.numbering(labels).stretches:
        starts.setdefault((stretch.node_rank, stretch.label), total)
        total += stretch.count
    held: dict[tuple[int, str], int] = {}
    for run in runs:
        key = (run.node, run.node_group)
        held[key] = held.get(key, 0) | run.mask
    first = min(starts[key] + (mask & -mask).bit_length() - 1 for key, mask in held.items())
    last = max(starts[key] + mask.bit_length() - 1 for key, mask in held.items())
    return Extent(first, last, sum(mask.bit_count() for mask in held.values()))
