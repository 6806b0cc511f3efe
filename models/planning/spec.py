"""Planning part of a job, and what follows from chosen degrees."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Mapping, Sequence

from ..counts import Counts
from ..parallel import Parallel
from ..placements.run import Run
from ..pools.laying import Laying
from ..record import dataclass
from .way import Shape, Way
from .workload import Timed, Workload


@dataclass(frozen=True, slots=True)
class Changed:
    """Fields of a component that are others with a choice than in the job itself; None for those that are as there."""

    least: int | None = None
    most: int | None = None
    counts: Counts | None = None
    per_process: int | None = None
    parallel: Parallel | None = None
    stride: int | None = None
    timed: Timed | None = None

    @property
    def named(self) -> dict[str, int | Counts | Parallel | Timed]:
        """Those that are others, by their names."""
        return {name: its for name in FIELDS if (its := getattr(self, name)) is not None}


FIELDS = tuple(each.name for each in fields(Changed))


@dataclass(frozen=True)
class Followed:
    """One choice.

    Attributes
    ----------
    degrees : of the components that others follow.
    changes : component -> what of it is another with this choice.
    ways, accepted : those of the job (see Job) with this choice.
    """

    degrees: Mapping[str, Parallel]
    changes: Mapping[str, Changed] = field(default_factory=dict)
    ways: tuple[Way, ...] = ()
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanningSpec:
    """Planning part of a Job: times, arrangements that the dialect can write, and where the file itself places what is planned.

    Attributes
    ----------
    workload : times that counts are chosen by; None where there are none.
    ways : arrangements of which a plan keeps to one.
    own : ranks of planned components in the file: no demand, but what the plan is compared with.
    own_faults : sentences on what the framework refuses of them.
    own_servers : accelerators that a server takes there, for components where that follows from how their pool is written.
    accepted : counts and degrees of planned components that the dialect takes, where only its own reading can tell.
    laying : how the dialect lays out pools whose sizes are chosen.
    shapes : processes of a component with each choice of its degrees.
    tied : planned component -> component whose degrees it follows: the same degrees, or those in `followed`.
    followed : what follows from each choice of degrees.
    not_read : number of choices of which nobody knows what follows, since there are very many.
    sizes_not_read : number of pool sizes of which nobody knows what the framework makes.
    by_size : components whose degrees may differ on other sizes of a pool.
    not_started : components that the framework does not start where others do their work.
    """

    workload: Workload | None = None
    ways: tuple[Way, ...] = ()
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    own_faults: tuple[str, ...] = ()
    own_servers: Mapping[str, int] = field(default_factory=dict)
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)
    laying: Laying | None = None
    shapes: Mapping[str, Mapping[Parallel, Shape]] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    followed: tuple[Followed, ...] = ()
    not_read: int = 0
    sizes_not_read: int = 0
    by_size: frozenset[str] = frozenset()
    not_started: frozenset[str] = frozenset()
