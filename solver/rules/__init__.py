"""Registry of rules, in the order of encoding and checking."""

from __future__ import annotations

from typing import Any

from ..rule import Rule
from .amounts.all_placed import AllPlaced
from .amounts.divisibility import Divisibility
from .amounts.even_shares import EvenShares
from .amounts.model_divides import ModelDivides
from .amounts.not_fewer import NotFewer
from .amounts.whole_shard_groups import WholeShardGroups
from .at_most import AtMost
from .capacity.fits_cpus import FitsCpus
from .capacity.fits_host_memory import FitsHostMemory
from .capacity.fits_memory import FitsMemory
from .groups.group_in_node import GroupInNode
from .groups.kept_together import GroupsWhole
from .groups.process_on_one_node import ProcessOnOneNode
from .groups.replica_on_whole_nodes import ReplicaOnWholeNodes
from .order.contiguous import Contiguous
from .order.in_order import InOrder
from .order.in_step import InStep
from .order.node_order import NodeOrder
from .order.rank_aligned import RankAligned
from .order.strided import Strided
from .order.zero_copy import ZeroCopy
from .sharing.colocated import Colocated
from .sharing.colocated_or_disjoint import ColocatedOrDisjoint
from .sharing.disjoint import Disjoint
from .sharing.no_overlap import NoOverlap
from .sharing.subset import Subset
from .unlike import Unlike
from .where.apart import Apart
from .where.excluded import Excluded
from .where.hardware_kind import HardwareKind
from .where.near import Near
from .where.node_group import NodeGroupRule
from .where.pinned import Pinned
from .where.spread_over import SpreadOver

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
    Unlike(),
    AtMost(),
)
