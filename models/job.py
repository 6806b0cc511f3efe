"""The job: its components, the relations between them, and what its dialect allows."""

from __future__ import annotations

from dataclasses import field
from typing import Callable, Mapping, Sequence

from .component import Component, Parallel, Relation
from .link import Link
from .model_cards.use import ModelUse
from .placements.assignment import Run
from .planning.followed import Followed
from .planning.way import Shape, Way
from .planning.workload import Workload
from .pools.laying import Laying
from .pools.pool import Pool
from .preference import Preference
from .ranks import write_range
from .record import dataclass
from .share import Share


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a dialect can express, so that the rules themselves stay general.

    `shares_accelerators`: components whose ranks are explicit may overlap (that is how RLinf says colocation).
    `nodes_in_order`: a component's processes must be on nodes of ascending rank (RLinf refuses any other order at launch).
    `groups_may_cross`: tensor parallel groups of given ranks may lie on several nodes: slow, but not refused.
    `processes_may_cross`: a process of given ranks may hold accelerators of several nodes: slow, but not refused.
    `whole_replicas`: a replica of an engine lies on whole nodes, or inside one; else the framework gives it the wrong accelerators.
    `packs`: a contiguous component is a range of the whole cluster, and its processes follow from it, so that neither groups nor process
    ranks are written.
    `reserves_nodes`: whole nodes are reserved, so that no other job gets what is idle on them.
    `range_text`: how a solid range of ranks is written where a component names one rank a process.
    `notices`: code of a rule -> when the framework itself would notice, for rules that it checks late or never.
    """

    shares_accelerators: bool = False
    nodes_in_order: bool = False
    groups_may_cross: bool = False
    processes_may_cross: bool = False
    whole_replicas: bool = False
    packs: bool = False
    reserves_nodes: bool = False
    range_text: Callable[[range], str] = write_range
    notices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """What must be placed.

    `choices` holds, for components that leave their parallel degrees open, every alternative, the preferred one first;
    the component itself carries that one. `pools` are those that the components were laid out from, where the dialect has such.
    `models` says of components which model they run, and what of it they divide. `links` are the traffic between components,
    `preference` is how it is weighed. `estimated` are the components whose traffic the user does not say.
    `workload` are the times that counts are chosen by, if there are any, `ways` the arrangements of which such a plan keeps to one, and
    `own` is where the file itself places the components that are planned: what its answer is compared with, and no demand; `own_faults`
    are what the framework refuses of that, each a sentence; `own_servers` is how many accelerators a server takes there, of components
    of which that follows from how their pool is written.
    `accepted` are the counts and degrees of planned components that the dialect takes, where only its own reading can tell; `laying`
    says how it lays out pools whose sizes are chosen, `shapes` what the processes of a component are with each choice of its degrees.
    `overlaps` holds, of components whose ranks are given, the planned ones that may use accelerators of theirs too. Those of `in_turn`
    are dealt out to all nodes up to the last one whose accelerators are used: their runs are what that is until more is placed.
    `tied` are planned components whose degrees follow from another one's, with its name: they are the same, or where `followed` says of
    every choice what follows from it, those; of `not_read` choices nobody knows what does, since there are very many;
    of `sizes_not_read` of its pools nobody knows what the framework makes. Those `by_size` have degrees that may be others on other sizes of a pool. Of the pairs `in_step` the first, where both
    share accelerators, shares whole processes of the second: it has whole groups as large as these, and begins where one of them does.
    Two components of `one_at_a_time` never work at the same time, though they lie on different accelerators (cost model `stream`).
    Those `not_started` are where others do their work, as a plan has them: the framework does not start them there.
    """

    components: tuple[Component, ...]
    relations: tuple[Relation, ...] = ()
    capabilities: Capabilities = Capabilities()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    shares: tuple[Share, ...] = ()
    pools: tuple[Pool, ...] = ()
    models: Mapping[str, ModelUse] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    estimated: tuple[str, ...] = ()
    workload: Workload | None = None
    ways: tuple[Way, ...] = ()
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    own_faults: tuple[str, ...] = ()
    own_servers: Mapping[str, int] = field(default_factory=dict)
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)
    laying: Laying | None = None
    shapes: Mapping[str, Mapping[Parallel, Shape]] = field(default_factory=dict)
    overlaps: Mapping[str, frozenset[str]] = field(default_factory=dict)
    in_turn: frozenset[str] = frozenset()
    tied: Mapping[str, str] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    not_read: int = 0
    sizes_not_read: int = 0
    by_size: frozenset[str] = frozenset()
    in_step: frozenset[tuple[str, str]] = frozenset()
    one_at_a_time: frozenset[tuple[str, str]] = frozenset()
    not_started: frozenset[str] = frozenset()

    @property
    def leaders(self) -> tuple[str, ...]:
        """The components from whose degrees those of others follow; of several, all of one that follows can depend on each of them."""
        return tuple(dict.fromkeys((*self.tied.values(), *(name for each in self.followed[:1] for name in each.degrees))))
