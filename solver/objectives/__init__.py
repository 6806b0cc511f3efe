"""Registry of objective terms, most important first.

`tiers.py` says which terms are weighed together.
"""

from __future__ import annotations

from ...models.machines.topology import LEVELS
from .counts import FullestNodes, MissingAccelerators, MissingProcesses, NodesOfRanges, UnevenCounts
from .moves import MoveTerm
from .preferred import SplitGroups
from .term import Objective
from .traffic import Collectives, DomainsTouched, Streams, WeightSync

OBJECTIVES: tuple[Objective, ...] = (
    MissingAccelerators(),
    MissingProcesses(),
    SplitGroups(),
    MoveTerm(),
    *(term(level) for level in LEVELS for term in (Collectives, WeightSync, Streams)),
    *(DomainsTouched(level) for level in LEVELS),
    NodesOfRanges(),
    FullestNodes(),
    UnevenCounts(),
)
