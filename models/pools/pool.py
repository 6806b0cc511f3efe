"""Pool of accelerators in node-local parts, as in verl."""

from __future__ import annotations

from dataclasses import field
from typing import Mapping

from ..findings.span import Span
from ..record import dataclass


@dataclass(frozen=True, slots=True)
class PoolParts:
    """`count` parts of `size` accelerators; a part lies on a single node."""

    size: int
    count: int = 1

    def __str__(self) -> str:
        return f"{self.count} x {self.size}"


@dataclass(frozen=True, slots=True)
class Pool:
    """Accelerators reserved together, without named nodes.

    Attributes
    ----------
    name : name in the framework.
    parts : parts in order, equal neighbours merged.
    cpus : CPUs reserved with each accelerator.
    components : components that run on the whole pool.
    accelerators_key, nodes_key : keys of the part size and the part count; "" if a list states
        both.
    spans : places of the numbers: ``size``, ``count``, else the ``name``.
    """

    name: str
    parts: tuple[PoolParts, ...]
    cpus: int = 0
    components: tuple[str, ...] = ()
    accelerators_key: str = ""
    nodes_key: str = ""
    spans: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)

    @property
    def size(self) -> int:
        """Number of accelerators: the world size."""
        return sum(parts.size * parts.count for parts in self.parts)

    @property
    def count(self) -> int:
        """Number of parts."""
        return sum(parts.count for parts in self.parts)

    @property
    def even(self) -> bool:
        """True if all parts have the same size."""
        return len({parts.size for parts in self.parts if parts.count}) <= 1

    def span(self, name: str) -> Span | None:
        """Return the place of a number; the place of the pool if unwritten."""
        return self.spans.get(name) or self.spans.get("name")

    @property
    def sizes(self) -> str:
        """Text of the parts: ``2 x 8``, or ``[4, 2]`` if sizes differ."""
        if self.even:
            return str(PoolParts(self.parts[0].size, self.count)) if self.parts else "0 x 0"
        listed = [parts.size for parts in self.parts for _ in range(min(parts.count, 8))]
        return f"[{', '.join(map(str, listed[:8]))}{', ...' if self.count > 8 else ''}]"


@dataclass(frozen=True, slots=True)
class Reserve:
    """Process outside of the pools with reserved CPUs on any node."""

    name: str
    cpus: int
