"""Job: components, relations between them, and capabilities of the dialect."""

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
    """Capabilities of a dialect, as flags that keep the rules general.

    Attributes
    ----------
    shares_accelerators : explicit ranks of components may overlap (RLinf's form of colocation).
    nodes_in_order : processes of a component must be on nodes of ascending rank (RLinf refuses any
        other order at launch).
    groups_may_cross : tp groups of given ranks may span nodes: slow, but not refused.
    processes_may_cross : a process of given ranks may hold accelerators of several nodes: slow, but
        not refused.
    whole_replicas : an engine replica lies on whole nodes or inside one node; else the framework
        assigns wrong accelerators.
    packs : a contiguous component is a range of the whole cluster and its processes follow from it;
        neither groups nor process ranks are written.
    reserves_nodes : whole nodes are reserved, so no other job gets their idle accelerators.
    range_text : text of a solid range for a component with one rank per process.
    notices : code of a rule -> when the framework itself notices, for rules that it checks late or
        never.
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
    choices : component with open degrees -> all alternatives, preferred first. The component
        carries the first.
    pools : resource pools of components, if the dialect has pools.
    models : component -> model, and how the component divides it.
    links, preference : traffic between components, and its weights.
    estimated : components with estimated traffic.
    overlaps : component with given ranks -> planned components that may share its accelerators.
    in_turn : components dealt out to all nodes up to the last used node; their runs are provisional
        until more is placed.
    in_step : (first, second): where both share accelerators, the first shares whole processes of
        the second (equal group sizes, aligned starts).
    planning : basis for counts and degrees.
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
        """Components that determine the degrees of others.

        If there are several, each follower may depend on all of them.
        """
        return tuple(
            dict.fromkeys((*self.planning.tied.values(), *(name for choice in self.planning.followed[:1] for name in choice.degrees)))
        )
