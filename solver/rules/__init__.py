"""Every rule, in the order in which they are said and checked."""

from __future__ import annotations

from typing import Any

from ..rule import Rule
from .all_placed import AllPlaced
from .apart import Apart
from .at_most import AtMost
from .colocated import Colocated
from .colocated_or_disjoint import ColocatedOrDisjoint
from .contiguous import Contiguous
from .disjoint import Disjoint
from .divisibility import Divisibility
from .even_shares import EvenShares
from .excluded import Excluded
from .fits_cpus import FitsCpus
from .fits_host_memory import FitsHostMemory
from .fits_memory import FitsMemory
from .group_in_node import GroupInNode
from .hardware_kind import HardwareKind
from .in_order import InOrder
from .kept_together import KeptTogether
from .model_divides import ModelDivides
from .near import Near
from .no_overlap import NoOverlap
from .node_group import NodeGroup
from .node_order import NodeOrder
from .not_fewer import NotFewer
from .pinned import Pinned
from .process_on_one_node import ProcessOnOneNode
from .rank_aligned import RankAligned
from .replica_on_whole_nodes import ReplicaOnWholeNodes
from .spread_over import SpreadOver
from .strided import Strided
from .subset import Subset
from .unlike import Unlike
from .zero_copy import ZeroCopy

RULES: tuple[Rule[Any], ...] = (
    AllPlaced(),
    Divisibility(),
    ModelDivides(),
    NoOverlap(),
    ProcessOnOneNode(),
    GroupInNode(),
    KeptTogether(),
    ReplicaOnWholeNodes(),
    Colocated(),
    RankAligned(),
    ZeroCopy(),
    Disjoint(),
    ColocatedOrDisjoint(),
    Subset(),
    InOrder(),
    Contiguous(),
    Strided(),
    NodeOrder(),
    NodeGroup(),
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
    Unlike(),
    AtMost(),
)
