"""The job: its components, the relations between them, and what its dialect allows."""

from __future__ import annotations

from dataclasses import field
from typing import Callable, Mapping

from .component import Component, Parallel, Relation
from .link import Link
from .model_cards.use import ModelUse
from .planning.spec import PlanningSpec
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

    Attributes
    ----------
    choices : every alternative of components that leave their degrees open, the preferred one first, which the component carries.
    pools : pools that components were laid out from, where the dialect has such.
    models : model that a component runs, and what of it the component divides.
    links, preference : traffic between components, and how it is weighed.
    estimated : components whose traffic the user does not say.
    overlaps : component with given ranks -> planned components that may use its accelerators too.
    in_turn : components dealt out to all nodes up to the last one whose accelerators are used; their runs are that until more is placed.
    in_step : pairs of which the first, where both share accelerators, shares whole processes of the second: groups as large, begun with one.
    planning : what counts and degrees are chosen by.
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
    overlaps: Mapping[str, frozenset[str]] = field(default_factory=dict)
    in_turn: frozenset[str] = frozenset()
    in_step: frozenset[tuple[str, str]] = frozenset()
    planning: PlanningSpec = PlanningSpec()

    @property
    def leaders(self) -> tuple[str, ...]:
        """The components from whose degrees those of others follow; of several, all of one that follows can depend on each of them."""
        return tuple(dict.fromkeys((*self.planning.tied.values(), *(name for each in self.planning.followed[:1] for name in each.degrees))))
