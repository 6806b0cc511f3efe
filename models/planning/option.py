"""Options of components, kinds of accelerators, and limits of designs."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Iterable, Mapping

from ..estimate import OnSize
from ..parallel import Parallel
from ..record import dataclass
from .arrangement import FrameworkArrangement


@dataclass(frozen=True)
class Area:
    """Nodes with all accelerators of a kind for some components.

    Attributes
    ----------
    components : components confined to these nodes for this kind.
    rooms : group size -> accelerators of the nodes in whole groups of that size.
    """

    kind: int
    components: frozenset[str]
    rooms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Use:
    """Option of a component in a no-good. `parallel` None for any, `or_more` for more as well."""

    kind: int
    amount: int
    parallel: Parallel | None
    or_more: bool = False


@dataclass(frozen=True)
class RefusedCount:
    """No-good: designs without a placement, or with a known placement.

    Attributes
    ----------
    uses : component -> its option.
    inside : pairs of these components in which the first uses only accelerators of the second; no
        other pairs share any.
    segments : segments of the iteration; None if they make no difference.
    """

    uses: Mapping[str, Use]
    inside: frozenset[tuple[str, str]] = frozenset()
    segments: tuple[int, ...] | None = field(default=None)


@dataclass(frozen=True)
class SharedBlock:
    """Accelerators of unplanned components with given ranks, open to others.

    Attributes
    ----------
    kinds : kinds with such accelerators.
    users : planned components that may be on them.
    """

    accelerators: int
    kinds: frozenset[int]
    users: frozenset[str]

    def lets(self, kind: int, components: Iterable[str]) -> bool:
        """Return True if accelerators with exactly `components` may be shared ones."""
        return kind in self.kinds and self.users.issuperset(components)


@dataclass(frozen=True, slots=True)
class CostlyLevel:
    """Level of the topology with costs.

    `cost`: nanoseconds per MiB across the level. `free`: kind of accelerators -> domain of the level
    -> free accelerators of this kind on each node.
    """

    cost: int
    free: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic from a component to another; see `Link` in models/job.py."""

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1


@dataclass(frozen=True)
class Crossing:
    """Traffic across levels.

    `traffic`: component -> MiB per domain beyond its first. `fixed`: ns of traffic equal in every
    design: inside and between components with given places.
    """

    levels: tuple[CostlyLevel, ...]
    traffic: Mapping[str, int]
    flows: tuple[Flow, ...]
    fixed: int = 0


NO_KIND = -1
"""Kind of a component without accelerators."""
AND = " and "
"""Separator between the names of several models; model names have no space."""


@dataclass(frozen=True, slots=True)
class AcceleratorKind:
    """Interchangeable accelerators: model, number, MiB per accelerator (None: unknown).

    Attributes
    ----------
    models : several models that no demand distinguishes; empty for a single model. Each has at
        least `memory`.
    mixed : True if demands distinguish the models, but a component may be on all of them: each has
        at most `memory`, and at least `least` MiB.
    """

    model: str
    accelerators: int
    memory: int | None = None
    models: tuple[str, ...] = ()
    mixed: bool = False
    least: int | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """Models of the accelerators; ("",) if unnamed."""
        return self.models or tuple(self.model.split(AND))

    @property
    def floor(self) -> int | None:
        """MiB that every accelerator of the kind has."""
        return self.least if self.mixed else self.memory

    def covers(self, model: str, memory: int | None) -> bool:
        """Return True if accelerators of a model and size belong to this kind anywhere."""
        if not self.models:
            return (self.model, self.memory) == (model, memory)
        return model in self.models and (self.floor is None or memory is None or memory >= self.floor)


@dataclass(frozen=True, slots=True)
class Option:
    """Configuration of a component.

    Attributes
    ----------
    kind : index of the kind of accelerators; `NO_KIND` for a component without accelerators.
    amount : accelerators of all replicas together; robots or processes without accelerators.
    nanoseconds : time of each of its tasks in a whole iteration, rounded up to a multiple of the
        problem's batches.
    memory : MiB on each accelerator while working; `kept` of them stay during other phases.
    on_sizes : both by accelerator size, if they depend on it and a kind has several sizes. Then
        `memory` and `kept` are those of the largest, and a lower bound for the others.
    estimated : True if both are an estimate with slack. A design keeps to them if possible; a
        placement need not.
    extrapolated : True if a time lies outside of the measured counts.
    group : accelerators that one node holds together.
    undivided : True if the framework divides nothing by these degrees, so each accelerator is a
        replica.
    """

    kind: int
    amount: int
    parallel: Parallel
    nanoseconds: tuple[int, ...]
    memory: int = 0
    kept: int = 0
    extrapolated: bool = False
    estimated: bool = False
    group: int = 1
    processes: int = 0
    on_sizes: tuple[OnSize, ...] = ()
    undivided: bool = False

    @property
    def replicas(self) -> int:
        """Number of replicas; robots or processes without accelerators."""
        return self.amount if self.undivided or self.kind == NO_KIND else self.amount // self.parallel.replica

    @property
    def per_process(self) -> int:
        """Accelerators per process."""
        return self.amount // max(self.processes, 1)

    @property
    def accelerators(self) -> int:
        """Number of accelerators."""
        return 0 if self.kind == NO_KIND else self.amount


@dataclass(frozen=True)
class Idle:
    """Components without a start, and so without memory, by arrangement."""

    ways: tuple[FrameworkArrangement, ...]

    @cached_property
    def beside(self) -> Mapping[str, frozenset[str]]:
        """Component -> components that prevent the start on shared accelerators."""
        neighbours: dict[str, frozenset[str]] = {}
        for index, arrangement in enumerate(self.ways):
            remaining = (*self.ways[:index], *self.ways[index + 1 :])
            for name in arrangement.without:
                neighbours[name] = neighbours.get(name, frozenset()) | arrangement.colocated_only_here(name, remaining)
        return neighbours

    @cached_property
    def workers(self) -> Mapping[str, str]:
        """Unstarted component -> component with the work."""
        pairs = ((name, arrangement.worker(name)) for arrangement in self.ways for name in self.beside if name in arrangement.without)
        return {name: worker for name, worker in pairs if worker is not None}

    def among(self, components: Iterable[str]) -> frozenset[str]:
        """Return the colocated components without a start."""
        present = frozenset(components) if self.beside else frozenset()
        return frozenset(name for name, neighbours in self.beside.items() if name in present and not present.isdisjoint(neighbours))
