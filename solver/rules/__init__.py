"""Registry of rules, in the order of encoding and checking."""

from __future__ import annotations

from typing import Any

from ..rule import Rule
from .amounts import AllPlaced, Divisibility, EvenShares, NotFewer, WholeShardGroups
from .answers import AtMost, DiversityConstraint
from .capacity import FitsCpus, FitsHostMemory, FitsMemory
from .groups import GroupInNode, GroupsWhole, ProcessOnOneNode, ReplicaOnWholeNodes
from .location import Apart, Excluded, HardwareKind, Near, NodeGroupRule, Pinned, SpreadOver
from .model_divides import ModelDivides
from .no_overlap import NoOverlap
from .order import Contiguous, InOrder, InStep, NodeOrder, Strided
from .sharing import Colocated, ColocatedOrDisjoint, Disjoint, RankAligned, Subset, ZeroCopy

RULES: tuple[Rule[Any], ...] = (
    AllPlaced(),
    Divisibility(),
    WholeShardGroups(),
    ModelDivides(),
    NoOverlap(),
    ProcessOnOneNode(),
    GroupInNode(),
    GroupsWhole(),
    ReplicaOnWholeNodes(),
    Colocated(),
    RankAligned(),
    ZeroCopy(),
    Disjoint(),
    ColocatedOrDisjoint(),
    Subset(),
    InOrder(),
    InStep(),
    Contiguous(),
    Strided(),
    NodeOrder(),
    NodeGroupRule(),
    HardwareKind(),
    Excluded(),
    Pinned(),
    SpreadOver(),
    Apart(),
    Near(),
    EvenShares(),
    NotFewer(),
    FitsMemory(),
    FitsCpus(),
    FitsHostMemory(),
    DiversityConstraint(),
    AtMost(),
)
