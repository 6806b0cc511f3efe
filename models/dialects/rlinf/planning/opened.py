"""What of a profiled file is planned."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Sequence

from ....component import Component, Relation
from ....placements.assignment import Run


@dataclass(frozen=True)
class Opened:
    """What of a file is planned.

    Attributes
    ----------
    components : all of the file, those that are planned without ranks and with times, and `inference` where it is a part of its own.
    own : the ranks that the file itself gives to those without.
    relations : who goes along with whom.
    """

    components: tuple[Component, ...]
    own: Mapping[str, Sequence[Run]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The components that are planned, and those that go along."""
        return frozenset(self.own)
