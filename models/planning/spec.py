"""Planning part of a job, and consequences of chosen degrees."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Mapping, Sequence

from ..parallel import Parallel
from ..placements.run import Run
from ..pools import Laying
from ..quantity import Counts
from ..record import dataclass
from .arrangement import FrameworkArrangement, ProcessShape
from .workload import TimedComponent, Workload


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """Fields of a component that a choice of degrees changes; None for unchanged fields."""

    least: int | None = None
    most: int | None = None
    counts: Counts | None = None
    per_process: int | None = None
    parallel: Parallel | None = None
    stride: int | None = None
    timed: TimedComponent | None = None

    @property
    def named(self) -> dict[str, int | Counts | Parallel | TimedComponent]:
        """Changed fields by name."""
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not None}


FIELDS = tuple(field.name for field in fields(FieldChanges))


@dataclass(frozen=True)
class DegreeChoice:
    """Consequences of a choice of degrees.

    Attributes
    ----------
    degrees : leading component -> degrees.
    changes : component -> changed fields.
    ways, accepted : fields of the Job under this choice.
    """

    degrees: Mapping[str, Parallel]
    changes: Mapping[str, FieldChanges] = field(default_factory=dict)
    ways: tuple[FrameworkArrangement, ...] = ()
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanningSpec:
    """Planning part of a Job: times, arrangements of the dialect, and the baseline.

    Attributes
    ----------
    own : ranks of planned components in the file: the baseline, not a demand.
    own_faults : sentences on what the framework refuses in `own`.
    own_servers : accelerators per server in `own`, for components whose pool text decides it.
    accepted : counts and degrees that the dialect accepts, if only its own reading can tell.
    laying : layout of pools with chosen sizes.
    shapes : component -> degrees -> shape of its processes.
    tied : planned component -> component whose degrees it follows: the same degrees, or those in
        `followed`.
    followed : consequences of each choice of degrees.
    unread_choices : number of choices with unknown consequences, since there are very many.
    sizes_not_read : number of pool sizes with an unknown result of the framework.
    by_size : components whose degrees may differ on other pool sizes.
    not_started : components that the framework does not start if others do their work.
    """

    workload: Workload | None = None
    ways: tuple[FrameworkArrangement, ...] = ()
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    own_faults: tuple[str, ...] = ()
    own_servers: Mapping[str, int] = field(default_factory=dict)
    accepted: Mapping[str, frozenset[tuple[int, Parallel]]] = field(default_factory=dict)
    laying: Laying | None = None
    shapes: Mapping[str, Mapping[Parallel, ProcessShape]] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)
    followed: tuple[DegreeChoice, ...] = ()
    unread_choices: int = 0
    sizes_not_read: int = 0
    by_size: frozenset[str] = frozenset()
    not_started: frozenset[str] = frozenset()
