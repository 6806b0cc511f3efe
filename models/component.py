"""What must be placed: a component of the training job, and how its parts relate to each other."""

from __future__ import annotations

from dataclasses import field, replace
from math import lcm
from typing import Mapping, Sequence

from .counts import Counts, holds, in_both
from .estimate import Estimate
from .findings.finding import Fix
from .findings.span import Span
from .locality import Keep, Pin, Spread
from .machines.node_group import CLUSTER_LABEL
from .on_size import OnSize
from .parallel import UNDIVIDED
from .parallel import Parallel as Parallel
from .placements.run import Run, repeats_of
from .planning.workload import Timed
from .record import dataclass

UNBOUNDED = 1 << 20


@dataclass(frozen=True, slots=True)
class Component:
    """One component of the job: actor, rollout, reference, critic, reward, env, agent...

    Attributes
    ----------
    name : its name in the file.
    node_groups : labels of the groups whose resources it may use, in the written order.
    least, most : how many resources it asks for: accelerators, robots, or processes where nodes are the resource.
    counts : where it asks for some of the numbers between these alone, which; none where for any. Of one number nothing is left to say.
    per_process : resources of one process.
    parallel : its degrees of parallelism.
    memory : MiB that one process needs on each of its accelerators; 0 if not said.
    cpus : CPUs that are reserved for one process.
    phases : when it needs them. Components without a phase in common take turns; none means always resident.
    offloaded : MiB that one process keeps on each of its accelerators while another phase runs.
    on_sizes : both where they depend on the memory of its accelerators: then `memory` and `offloaded` are the least of these.
    host_memory : MiB of its node that one process needs; 0 if not said.
    keep, spread, pins : what of it stays together, in which failure domains it lies, which of its ranks are on which nodes.
    excluded : ranks of nodes that it must not use.
    timed : what is known of the time that it takes; None if nothing.
    estimate : what its memory is estimated from; None if nobody says it.
    shards : so many of its ranks divide what they train among themselves, as its framework is set (hybrid sharding); 0 if that is not said.
    traffic : MiB that its processes exchange in each step, once for every further domain that they lie in; 0 if not said.
    accelerator_model : the only model it may use, "" for any.
    role : what it does (see roles.py), by which another dialect knows it; "" if that is not known.
    contiguous : whether its accelerators are one solid range of its groups' numbering, in rank order.
    any_order : a contiguous component whose processes may lie in that range in any order.
    stride : tp groups interleave in blocks of `stride` groups (contiguous components only).
    runs : explicit ranks, already computed; None if it is to be solved.
    server : accelerators that a server of an engine takes for those of one node; 0 if it asks the nodes.
    spans : where each field was written.
    backend : what trains it, ``megatron``, ``fsdp`` or ``deepspeed``, which a conversion keeps; "" if that is not known.
    fixes : code of a rule that the explicit ranks break -> what mends them, where the dialect knows it.
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
    timed: Timed | None = None
    estimate: Estimate | None = None
    shards: int = 0
    on_sizes: tuple[OnSize, ...] = ()
    counts: Counts = ()
    backend: str = field(default="", compare=False)

    def may_have(self, amount: int) -> bool:
        """Is it one of the numbers of resources that it asks for?"""
        return self.least <= amount <= self.most and (not self.counts or self.least == self.most or holds(self.counts, amount))

    def between(self, least: int, most: int) -> Component:
        """The same with no fewer and no more resources than that, as far as it may have so many."""
        kept = in_both(self.counts, ((least, most),)) or ((least, most),)
        return replace(self, least=kept[0][0], most=kept[-1][1], counts=kept if self.counts else ())

    @property
    def group_size(self) -> int:
        """Accelerators that one node must hold together: a tensor parallel group, in whole processes."""
        return lcm(self.parallel.tp, self.per_process)

    @property
    def unit(self) -> int:
        """Accelerators that are placed as one piece: a group, or a block of interleaved groups (single ones do not interleave)."""
        return self.block if self.group_size > 1 else 1

    @property
    def block(self) -> int:
        """Accelerators of as many groups as interleave."""
        return self.group_size * self.stride if self.contiguous else self.group_size

    @property
    def step(self) -> int:
        """What the number of its accelerators must be a multiple of: whole replicas, whole processes, whole blocks of a stride."""
        return lcm(self.parallel.replica, self.per_process, self.block if self.stride > 1 else 1)

    @property
    def divided_among(self) -> int:
        """How many ranks are one group of shards: as its framework is set, else as its estimate says; 0 where all of them are, or nothing is divided."""
        return self.shards or (self.estimate.divided_among if self.estimate else 0)

    @property
    def numbered_in(self) -> tuple[str, ...]:
        """The groups that its ranks are written in: its own, but for given ranks that are written in others than its hints name."""
        repeats = repeats_of(self.runs or ())
        used = tuple(dict.fromkeys(run.node_group for repeat in repeats for run in repeat.runs))
        return self.node_groups if set(used) <= set(self.node_groups) else used

    def needs(self, capacity: int | None) -> tuple[int, int]:
        """MiB of an accelerator with so many while it works, and those that stay while another phase does."""
        its = next((each for each in self.on_sizes if each.capacity == capacity), None)
        return (self.memory, self.offloaded) if its is None else (its.memory, its.kept)

    def fix(self, code: str, otherwise: str) -> Fix:
        """What mends it where it breaks a rule; only the words `otherwise` where the dialect knows nothing better."""
        return self.fixes.get(code) or Fix(otherwise)

    def span(self, name: str) -> Span | None:
        """Where a field was written; where the component was written if the field was not."""
        return self.spans.get(name) or self.spans.get("name")

    def is_written(self, name: str) -> bool:
        """Does the file say a field? Where there is no file, everything is as it was asked for."""
        return not self.spans or name in self.spans


@dataclass(frozen=True, slots=True)
class Relation:
    """Something that must hold between components; `kind` says what.

    Attributes
    ----------
    components : two of them; for ``in order`` any number.
    reason : who demands it, if the file does not say it itself, such as "RLinf's auto mode".
    choice : of a relation that leaves a choice, the kind that goes with the rest of the file; "" if all do.
    level : of a relation between domains, their level of the topology.
    demanded : kind that the file demands, where `kind` is one of the two that it leaves open; "" for `kind`.
    proposed : is it how a plan has the components, and no demand on where the file itself has them?
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

    def decided(self, kind: str) -> Relation:
        """One of the two relations that `colocated or disjoint` leaves open."""
        return replace(self, kind=kind, demanded=self.kind)

    @property
    def implies(self) -> str:
        """The kind of relation between their accelerators that follows from it."""
        return COLOCATED if self.kind in TOGETHER else DISJOINT if self.kind == APART else self.kind


COLOCATED = "colocated"
"""Exactly the same accelerators."""
DISJOINT = "disjoint"
"""No accelerator in common."""
COLOCATED_OR_DISJOINT = "colocated or disjoint"
"""Exactly the same accelerators, or none in common; nothing between."""
SUBSET = "subset"
"""The first uses no accelerator that the second does not use."""
IN_ORDER = "in order"
"""One after the other, each a solid range, from the first accelerator of the cluster to its last."""
NOT_FEWER = "not fewer"
"""The first has at least as many processes as the second."""
APART = "apart"
"""No domain of a level of the topology holds some of both."""
NEAR = "near"
"""Every domain of a level that holds some of the first holds some of the second."""
RANK_ALIGNED = "rank aligned"
"""The same accelerators in the same order of ranks."""
ZERO_COPY = "zero copy"
"""The same accelerators, so that each finds the part of the weights that its tensor parallel rank needs at home.

An accelerator of tensor parallel rank a of the first has rank floor(a x tp of the second / tp of the first) of the second; where the
second has the larger tp, one of its rank r has rank floor(r x tp of the first / tp of the second) of the first.
"""

KEYS = {
    COLOCATED: "colocate_with", DISJOINT: "disjoint_from", SUBSET: "within", RANK_ALIGNED: "rank_aligned_with", ZERO_COPY: "zero_copy_with",
    APART: "apart_from", NEAR: "near",
}  # fmt: skip
"""The kinds of relations that the hints of a component can state, and the key that states each."""
RELATION_KINDS = (COLOCATED, DISJOINT, COLOCATED_OR_DISJOINT, SUBSET, IN_ORDER, NOT_FEWER, APART, NEAR, RANK_ALIGNED, ZERO_COPY)
BETWEEN_DOMAINS = (APART, NEAR)
"""Relations that name a level of the topology."""
TOGETHER = (COLOCATED, RANK_ALIGNED, ZERO_COPY)
"""Relations that put components on exactly the same accelerators."""
