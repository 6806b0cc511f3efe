"""Registry of objective terms, most important first.

`tiers.py` says which terms are weighed together.
"""

from __future__ import annotations

from ...models.machines.topology import LEVELS
from .fullest_nodes import FullestNodes
from .idle import MissingAccelerators, MissingProcesses
from .moves import MoveTerm
from .nodes_of_ranges import NodesOfRanges
from .preferred import Preferred
from .term import Objective
from .traffic import Collectives, DomainsTouched, Streams, WeightSync
from .uneven import UnevenCounts

OBJECTIVES: tuple[Objective, ...] = (
    MissingAccelerators(),
    MissingProcesses(),
    Preferred(),
    MoveTerm(),
    *(term(level) for level in LEVELS for term in (Collectives, WeightSync, Streams)),
    *(DomainsTouched(level) for level in LEVELS),
    NodesOfRanges(),
    FullestNodes(),
    UnevenCounts(),
)
