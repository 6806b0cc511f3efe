"""Limits of designs: capacity in whole groups, shared accelerators, traffic, no-goods."""

from __future__ import annotations

from dataclasses import field
from typing import Iterable, Mapping

from ..parallel import Parallel
from ..record import dataclass


@dataclass(frozen=True)
class Area:
    """Nodes with all accelerators of a kind for some components.

    Attributes
    ----------
    kind : index of the kind of accelerators.
    components : components confined to these nodes for this kind.
    rooms : group size -> accelerators of the nodes in whole groups of that size.
    """

    kind: int
    components: frozenset[str]
    rooms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Use:
    """Option of a component in a no-good: degrees (None: any) and accelerators of a kind.

    `or_more`: more accelerators match too.
    """

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
class Shared:
    """Accelerators of unplanned components with given ranks, open to others.

    Attributes
    ----------
    accelerators : number of accelerators; the kinds include them.
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
class Crossed:
    """Level of the topology with costs.

    Attributes
    ----------
    cost : nanoseconds per MiB across the level.
    free : kind of accelerators -> domain of the level -> free accelerators of this kind on each
        node.
    """

    cost: int
    free: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """Traffic from a component to another; see models/link.py."""

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1


@dataclass(frozen=True)
class Crossing:
    """Traffic across levels.

    Attributes
    ----------
    traffic : component -> MiB per domain beyond its first.
    fixed : nanoseconds of traffic equal in every design: inside and between components with given
        places.
    """

    levels: tuple[Crossed, ...]
    traffic: Mapping[str, int]
    flows: tuple[Flow, ...]
    fixed: int = 0
