"""Registry of rules, in the order of encoding and checking."""

from __future__ import annotations

from typing import Any

from ..rule import Rule
from .amounts.all_placed import AllPlaced, NotFewer
from .amounts.divisibility import Divisibility, WholeShardGroups
from .amounts.even_shares import EvenShares
from .amounts.model_divides import ModelDivides
from .answers import AtMost, DiversityConstraint
from .capacity.fits_memory import FitsMemory
from .capacity.per_node import FitsCpus, FitsHostMemory
from .groups.in_nodes import GroupInNode, ProcessOnOneNode, ReplicaOnWholeNodes
from .groups.kept_together import GroupsWhole
from .location.nodes import Excluded, HardwareKind, NodeGroupRule
from .location.over_domains import Apart, Near, SpreadOver
from .location.pinned import Pinned
from .order.contiguous import Contiguous
from .order.in_order import InOrder
from .order.in_step import InStep
from .order.rank_aligned import RankAligned, ZeroCopy
from .order.rank_order import NodeOrder, Strided
from .sharing.no_overlap import NoOverlap
from .sharing.relations import Colocated, ColocatedOrDisjoint, Disjoint, Subset

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
