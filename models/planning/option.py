"""Option of a component, kinds of accelerators, and components that are not started."""

from __future__ import annotations

from functools import cached_property
from typing import Iterable, Mapping

from ..on_size import OnSize
from ..parallel import Parallel
from ..record import dataclass
from .way import Way

NO_KIND = -1
"""The kind of a component that needs no accelerators."""
AND = " and "
"""Between the names of several models; no name of one has a space."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Accelerators that are as good as each other: their model, how many there are, MiB of each (None: not known).

    `models` : the several models that they are of, which nothing that is asked tells apart; none where they are of one. Each has as
    much memory at least. `mixed` : something tells them apart all the same, and a component may be on all of them: each has `memory` at the
    most, and `least` MiB at least. `holders` : the components whose given ranks these accelerators are, of several kinds, and those within them;
    nobody else may use them. None where who may use them is open.
    """

    model: str
    accelerators: int
    memory: int | None = None
    models: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    mixed: bool = False
    least: int | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The models that they are of, also where given ranks are on several; ("",) where none is named."""
        return self.models or tuple(self.model.split(AND))

    @property
    def floor(self) -> int | None:
        """MiB that each of them has, whichever it is."""
        return self.least if self.mixed else self.memory

    def covers(self, model: str, memory: int | None) -> bool:
        """Are accelerators of a model with so many MiB each of this kind, wherever they are?"""
        if self.holders:
            return False
        if not self.models:
            return (self.model, self.memory) == (model, memory)
        return model in self.models and (self.floor is None or memory is None or memory >= self.floor)


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a component.

    Attributes
    ----------
    kind : index of the kind of accelerators; `NO_KIND` for a component that needs none.
    amount : accelerators of all its replicas together; robots or processes where it needs no accelerators.
    nanoseconds : of each of its tasks, a whole iteration of it, rounded up to a multiple of the question's batches.
    memory : MiB on each accelerator while it works; `kept` of them stay while another phase does.
    on_sizes : both by the memory of an accelerator, where they depend on that and a kind has several sizes. Then `memory` and `kept` are
        those of the largest, and no more than as much of it as of any other.
    estimated : are these an estimate, with its slack? Then a design keeps to them where one can, and no placement must.
    extrapolated : whether a time of it lies outside of what was measured.
    group : accelerators that one node holds together.
    processes : of all its replicas together.
    undivided : does its framework divide nothing by these degrees, so that each accelerator is a replica?
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
        """How many replicas of its work there are; of what needs no accelerators its robots or processes."""
        return self.amount if self.undivided or self.kind == NO_KIND else self.amount // self.parallel.replica

    @property
    def each(self) -> int:
        """Accelerators of one process."""
        return self.amount // max(self.processes, 1)

    @property
    def accelerators(self) -> int:
        """How many accelerators it takes."""
        return 0 if self.kind == NO_KIND else self.amount


@dataclass(frozen=True)
class Idle:
    """Which those are, by the ways in which a job may be arranged: such components need no memory there."""

    ways: tuple[Way, ...]

    @cached_property
    def beside(self) -> Mapping[str, frozenset[str]]:
        """Components that are not started where they share accelerators with some of these -> these."""
        found: dict[str, frozenset[str]] = {}
        for number, way in enumerate(self.ways):
            others = (*self.ways[:number], *self.ways[number + 1 :])
            for name in way.without:
                found[name] = found.get(name, frozenset()) | way.beside_in_it_alone(name, others)
        return found

    @cached_property
    def workers(self) -> Mapping[str, str]:
        """Components that are not started beside some others -> who does their work there."""
        its = ((name, way.worker(name)) for way in self.ways for name in self.beside if name in way.without)
        return {name: worker for name, worker in its if worker is not None}

    def among(self, components: Iterable[str]) -> frozenset[str]:
        """Those of components on the same accelerators that are not started there."""
        its = frozenset(components) if self.beside else frozenset()
        return frozenset(name for name, beside in self.beside.items() if name in its and not its.isdisjoint(beside))
