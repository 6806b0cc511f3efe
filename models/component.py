"""Component of the training job, its locality, and relations between components."""

from __future__ import annotations

from dataclasses import field, replace
from math import lcm
from typing import Mapping, Sequence

from .estimate import MemoryInput, OnSize
from .findings.finding import Fix
from .findings.span import Span
from .machines.node_group import CLUSTER_LABEL
from .parallel import UNDIVIDED
from .parallel import Parallel as Parallel
from .placements.run import Run, repeats_of
from .planning.workload import TimedComponent
from .quantity import Counts, holds, intersection
from .record import dataclass

TP, EP, REPLICA, WHOLE = KEPT = ("tp", "ep", "replica", "component")
"""Units to keep together: tp group, ep group, replica, or the whole component."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Limit on the domains of every group of a kind.

    Attributes
    ----------
    level : a level of the topology (see machines/topology.py), such as ``nvlink_domain``.
    domains : maximum number of domains per group; above 1 for the whole component only.
    required : True for a constraint; False for a penalty in the objective.
    """

    unit: str
    level: str
    domains: int = 1
    required: bool = True
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """Minimum number of failure domains of a component.

    Attributes
    ----------
    domains : minimum number of domains of that level.
    percent : maximum share of the component in one domain, in percent of its groups, rounded up to
        a whole group; 100 for no limit.
    """

    level: str
    domains: int = 1
    percent: int = 100
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pin:
    """Process ranks of a component with a fixed set of nodes."""

    ranks: range
    nodes: tuple[int, ...]
    span: Span | None = field(default=None, compare=False)


UNBOUNDED = 1 << 20


@dataclass(frozen=True)
class Component:
    """Component of the job: actor, rollout, reference, critic, reward, env, agent...

    Attributes
    ----------
    node_groups : labels of the groups whose resources it may use, in the written order.
    least, most : range of requested resources: accelerators, robots, or processes if nodes are the
        resource.
    counts : allowed ranges between `least` and `most`; empty if all counts are allowed. Also empty
        for a single count.
    memory : MiB per process on each of its accelerators; 0 if unspecified.
    phases : phases that need its memory. Components without a common phase take turns; empty means
        always resident.
    offloaded : MiB that one process keeps on each accelerator during other phases.
    on_sizes : `memory` and `offloaded` per accelerator size, if they depend on it; the two fields
        then hold the minimum.
    host_memory : MiB of host memory per process; 0 if unspecified.
    shards : ranks per sharding group in the framework's settings (hybrid sharding); 0 if
        unspecified.
    traffic : MiB that its processes exchange per step for each further domain; 0 if unspecified.
    accelerator_model : the only allowed model, "" for any.
    role : function in the job (see roles.py), used to translate between dialects; "" if unknown.
    contiguous : True if its accelerators are one solid range of its groups' numbering, in rank
        order.
    any_order : True if the processes of a contiguous component may be in their range in any order.
    stride : tp groups interleave in blocks of `stride` groups (contiguous components only).
    runs : explicit ranks, already computed; None if the component is searched.
    server : accelerators that an engine server assumes per node; 0 if it asks the nodes.
    backend : trainer, ``megatron``, ``fsdp`` or ``deepspeed``, kept by a conversion; "" if unknown.
    fixes : code of a rule that the explicit ranks break -> fix known to the dialect.
    """

    name: str
    node_groups: tuple[str, ...] = (CLUSTER_LABEL,)
    least: int = 1
    most: int = UNBOUNDED
    per_process: int = 1
    parallel: Parallel = UNDIVIDED
    memory: int = 0
    phases: tuple[str, ...] = ()
    accelerator_model: str = ""
    contiguous: bool = False
    stride: int = 1
    runs: Sequence[Run] | None = None
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)
    fixes: Mapping[str, Fix] = field(default_factory=dict, compare=False, repr=False)
    cpus: int = 0
    any_order: bool = False
    role: str = ""
    server: int = 0
    offloaded: int = 0
    host_memory: int = 0
    keep: tuple[Keep, ...] = ()
    spread: tuple[Spread, ...] = ()
    pins: tuple[Pin, ...] = ()
    excluded: tuple[int, ...] = ()
    traffic: int = 0
    timed: TimedComponent | None = None
    estimate: MemoryInput | None = None
    shards: int = 0
    on_sizes: tuple[OnSize, ...] = ()
    counts: Counts = ()
    backend: str = field(default="", compare=False)

    def may_have(self, amount: int) -> bool:
        """Return True if the component accepts this number of resources."""
        return self.least <= amount <= self.most and (not self.counts or self.least == self.most or holds(self.counts, amount))

    def narrow_counts(self, minimum: int, most: int) -> Component:
        """Return the component with counts narrowed to a range, as far as possible."""
        counts = intersection(self.counts, ((minimum, most),)) or ((minimum, most),)
        return replace(self, least=counts[0][0], most=counts[-1][1], counts=counts if self.counts else ())

    @property
    def group_size(self) -> int:
        """Accelerators of a node-local unit: a tp group, in whole processes."""
        return lcm(self.parallel.tp, self.per_process)

    @property
    def unit(self) -> int:
        """Accelerators placed as a piece: a group, or a block of interleaved groups."""
        return self.block if self.group_size > 1 else 1

    @property
    def block(self) -> int:
        """Accelerators of a block of interleaved groups."""
        return self.group_size * self.stride if self.contiguous else self.group_size

    @property
    def step(self) -> int:
        """Divisor of the number of accelerators: whole replicas, processes and stride blocks."""
        return lcm(self.parallel.replica, self.per_process, self.block if self.stride > 1 else 1)

    @property
    def divided_among(self) -> int:
        """Ranks per sharding group; 0 if all are one group, or if nothing is divided."""
        return self.shards or (self.estimate.divided_among if self.estimate else 0)

    @property
    def numbered_in(self) -> tuple[str, ...]:
        """Node groups in the numbering of the ranks: its own, or those of the given ranks."""
        repeats = repeats_of(self.runs or ())
        labels = tuple(dict.fromkeys(run.node_group for repeat in repeats for run in repeat.runs))
        return self.node_groups if set(labels) <= set(self.node_groups) else labels

    def needs(self, capacity: int | None) -> tuple[int, int]:
        """Return (working, offloaded) MiB on an accelerator with `capacity` MiB."""
        size = next((entry for entry in self.on_sizes if entry.capacity == capacity), None)
        return (self.memory, self.offloaded) if size is None else (size.memory, size.kept)

    def fix(self, code: str, otherwise: str) -> Fix:
        """Return the dialect's fix for a broken rule, or a fix with the text `otherwise`."""
        return self.fixes.get(code) or Fix(otherwise)

    def span(self, name: str) -> Span | None:
        """Return the place of a field, or of the component if the field is unwritten."""
        return self.spans.get(name) or self.spans.get("name")

    def is_written(self, name: str) -> bool:
        """Return True if the file states the field; always True without a file."""
        return not self.spans or name in self.spans


@dataclass(frozen=True, slots=True)
class Relation:
    """Demand between components of a kind in `RELATION_KINDS`.

    Attributes
    ----------
    components : two names; any number for ``in order``.
    reason : origin of the demand if the file does not state it, such as "RLinf's auto mode".
    choice : for a relation that leaves a choice, the kind that fits the rest of the file; "" if all
        kinds fit.
    demanded : kind in the file, if `kind` is one of the two that it leaves open; "" for `kind`.
    proposed : True if a plan proposes the relation; the file's own placement need not keep it.
    """

    kind: str
    components: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
    choice: str = field(default="", compare=False)
    level: str = ""
    proposed: bool = field(default=False, compare=False)
    demanded: str = ""

    @property
    def demand(self) -> str:
        """Kind that the file demands."""
        return self.demanded or self.kind

    def decide(self, kind: str) -> Relation:
        """Return the relation with `colocated or disjoint` decided as `kind`."""
        return replace(self, kind=kind, demanded=self.kind)

    @property
    def implies(self) -> str:
        """Kind of the implied relation between accelerators."""
        return COLOCATED if self.kind in TOGETHER else DISJOINT if self.kind == APART else self.kind


COLOCATED = "colocated"
"""Exactly the same accelerators."""
DISJOINT = "disjoint"
"""No accelerator in common."""
COLOCATED_OR_DISJOINT = "colocated or disjoint"
"""Exactly the same accelerators, or none in common; nothing between."""
SUBSET = "subset"
"""The first uses only accelerators of the second."""
IN_ORDER = "in order"
"""Solid ranges in sequence, from the first accelerator of the cluster to the last."""
NOT_FEWER = "not fewer"
"""The first has at least as many processes as the second."""
APART = "apart"
"""No domain of a topology level holds accelerators of both."""
NEAR = "near"
"""Every domain of a level with accelerators of the first has some of the second."""
RANK_ALIGNED = "rank aligned"
"""The same accelerators in the same order of ranks."""
ZERO_COPY = "zero copy"
"""The same accelerators, with the weights of every tensor parallel rank stored locally.

An accelerator of tensor parallel rank a of the first has rank floor(a x tp of the second / tp of
the first) of the second; if the second has the larger tp, an accelerator of its rank r has rank
floor(r x tp of the first / tp of the second) of the first.
"""

KEYS = {
    COLOCATED: "colocate_with", DISJOINT: "disjoint_from", SUBSET: "within", RANK_ALIGNED: "rank_aligned_with", ZERO_COPY: "zero_copy_with",
    APART: "apart_from", NEAR: "near",
}  # fmt: skip
"""Relation kind -> hint key."""
RELATION_KINDS = (COLOCATED, DISJOINT, COLOCATED_OR_DISJOINT, SUBSET, IN_ORDER, NOT_FEWER, APART, NEAR, RANK_ALIGNED, ZERO_COPY)
BETWEEN_DOMAINS = (APART, NEAR)
"""Relations with a level of the topology."""
TOGETHER = (COLOCATED, RANK_ALIGNED, ZERO_COPY)
"""Relations that imply exactly the same accelerators."""
