"""Job: components, relations and traffic between them, and capabilities of the dialect."""

from __future__ import annotations

from dataclasses import field
from math import gcd, lcm
from typing import Callable, Mapping

from .component import Component, Parallel, Relation
from .findings.span import Span
from .findings.wording import singular
from .model_cards.use import ModelUse
from .planning.spec import PlanningSpec
from .planning.workload import Workload
from .pools import Pool
from .ranks import write_range
from .record import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """Data that two components exchange in every step.

    Attributes
    ----------
    weights : MiB sent to every domain of a level with some of the target and none of the source:
        new weights of a model that is trained in one place and used in another.
    stream : MiB per accelerator of the target without `ratio` accelerators of the source in its own
        domain: samples that processes exchange with a neighbour.
    ratio : accelerators of the target served by one accelerator of the source.
    estimate : how the amounts were estimated; "" if the user states them.
    """

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1
    span: Span | None = field(default=None, compare=False)
    estimate: str = field(default="", compare=False)


LEXICOGRAPHIC, WEIGHTED = ORDERS = ("lexicographic", "weighted")
"""Orders: bytes across the widest topology level first, or the sum of all bytes."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Comparison of bytes at different levels of the topology.

    Attributes
    ----------
    weights : level -> cost per MiB in the weighted sum; unnamed levels cost 1.
    bytes_first : True if bytes come before soft locality and moves, as with traffic counted as
        time.
    """

    order: str = LEXICOGRAPHIC
    weights: Mapping[str, int] = field(default_factory=dict)
    bytes_first: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """Amount that must divide equally among the processes of a component.

    Attributes
    ----------
    multiple : divisor of the share of one process.
    noun : noun in the plural: "environments", "samples".
    amount_name : key of the amount, such as ``env.train.total_num_envs``.
    multiple_name : origin of the multiple, such as ``rollout.pipeline_stage_num x group_size``; ""
        if it is 1.
    reason : who demands it and when a fault shows, in one sentence; "" for no finding.
    proved : True if a run is proved to fail without it. Otherwise given ranks that break it get a
        warning; a search keeps it in both cases.
    factor : `amount` divided by the written number.
    suits : divisor of the written numbers that a help offers, for another demand on them.
    """

    component: str
    amount: int
    multiple: int
    noun: str
    amount_name: str
    multiple_name: str = ""
    span: Span | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
    proved: bool = True
    factor: int = 1
    suits: int = field(default=1, compare=False)

    @property
    def amount_text(self) -> str:
        """Amount with noun: `64 prompts`, `1 prompt`."""
        return f"{self.amount} {singular(self.noun) if self.amount == 1 else self.noun}"

    @property
    def multiple_text(self) -> str:
        """Divisor of the share of a process: `rollout.pipeline_stage_num 2`, `2`."""
        return f"{self.multiple_name} {self.multiple}" if self.multiple_name else str(self.multiple)

    @property
    def written(self) -> int:
        """Number written under `amount_name`."""
        return self.amount // self.factor

    def step_over(self, processes: int) -> int:
        """Return the divisor of the written number for this number of processes."""
        divisor = max(processes, 1) * self.multiple
        return lcm(divisor // gcd(divisor, self.factor), self.suits)

    def divides(self, processes: int) -> bool:
        """Return True if all processes get equal, nonempty shares of the right multiple."""
        return 0 < processes * self.multiple <= self.amount and self.amount % (processes * self.multiple) == 0

    @property
    def field(self) -> str:
        """Field name of the demand; a component may have several shares."""
        return f"share of {self.amount_name}"


@dataclass(frozen=True, slots=True)
class HintedJob:
    """Components, relations, choices, links, preference and workload after reading hints.

    Attributes
    ----------
    choices : open parallel degrees of hints.
    """

    components: tuple[Component, ...]
    relations: tuple[Relation, ...] = ()
    choices: Mapping[str, tuple[Parallel, ...]] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    preference: Preference = field(default_factory=Preference)
    workload: Workload | None = None


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
    overlaps : component with given ranks -> planned components that may share its accelerators.
    in_turn : components dealt out to all nodes up to the last used node; their runs are provisional
        until more is placed.
    in_step : (first, second): where both share accelerators, the first shares whole processes of
        the second (equal group sizes, aligned starts).
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
        """Components that determine the degrees of others."""
        return tuple(
            dict.fromkeys((*self.planning.tied.values(), *(name for choice in self.planning.followed[:1] for name in choice.degrees)))
        )
