"""A pool of accelerators in equal or unequal parts, each of which lies on one node, as verl asks for them."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..findings.span import Span
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """`count` parts of `size` accelerators, each part on one node."""

    size: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.count} x {self.size}"


@dataclass(frozen=True, slots=True)
class Pool:
    """Accelerators that are reserved together; nobody says on which nodes.

    Attributes
    ----------
    name : its name in the framework.
    parts : its parts in their order, equal neighbours as one.
    cpus : CPUs that are reserved with each accelerator.
    components : the components that run on all of it.
    accelerators_key, nodes_key : the keys that say how large a part is and how many there are; "" where a list says both.
    spans : where its numbers are written: ``size`` of its parts, their ``count``, else the ``name``.
    """

    name: str
    parts: tuple[Parts, ...]
    cpus: int = 0
    components: tuple[str, ...] = ()
    accelerators_key: str = ""
    nodes_key: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        """How many accelerators it has: its world size."""
        return sum(parts.size * parts.count for parts in self.parts)

    @property
    def count(self) -> int:
        """How many parts it has."""
        return sum(parts.count for parts in self.parts)

    @property
    def even(self) -> bool:
        """Are all parts of one size?"""
        return len({parts.size for parts in self.parts if parts.count}) <= 1

    def span(self, name: str) -> Span | None:
        """Where a number of it is written; where the pool is, if that is not."""
        return self.spans.get(name) or self.spans.get("name")

    @property
    def sizes(self) -> str:
        """Its parts in one word, such as ``2 x 8``, or ``[4, 2]`` where they differ."""
        if self.even:
            return str(Parts(self.parts[0].size, self.count)) if self.parts else "0 x 0"
        listed = [parts.size for parts in self.parts for _ in range(min(parts.count, 8))]
        return f"[{', '.join(map(str, listed[:8]))}{', ...' if self.count > 8 else ''}]"


@dataclass(frozen=True, slots=True)
class Reserve:
    """A process beside the pools that holds CPUs of one node, any one."""

    name: str
    cpus: int
