"""What a job is with degrees that are chosen for some components, where other things of it follow from these."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Mapping

from ..counts import Counts
from ..parallel import Parallel
from ..record import dataclass
from .way import Way
from .workload import Timed


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
