"""What is dealt out: processes that need no accelerator, on nodes that are searched."""

from __future__ import annotations

from typing import Sequence

from ....models.placements.run import Run
from ....models.record import dataclass
from ..bundle import Bundle


@dataclass(frozen=True, eq=False)
class Dealt:
    """A component whose processes are dealt out to nodes.

    Attributes
    ----------
    bundle : what its processes are counted as, one a unit.
    processes : how many there are at most.
    fewest : how many there are at least.
    nodes : the ranks of the nodes that its groups and what is excluded leave it.
    even : its runs if nothing else mattered.
    """

    bundle: Bundle
    processes: int
    fewest: int
    nodes: frozenset[int]
    even: Sequence[Run]
