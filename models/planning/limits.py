"""Limits of designs: room in whole groups, shared accelerators, traffic, what is barred."""

from __future__ import annotations

from dataclasses import field
from typing import Iterable, Mapping

from ..parallel import Parallel
from ..record import dataclass


@dataclass(frozen=True)
class Area:
    """Nodes that hold all accelerators of one kind of these components.

    Attributes
    ----------
    kind : index of the kind of accelerators.
    components : those that may be nowhere else with this kind.
    rooms : size of a group -> how many accelerators of the nodes lie in whole groups of it.
    """

    kind: int
    components: frozenset[str]
    rooms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Use:
    """What one component takes: its degrees (None: whatever they are), on so many accelerators of a kind, or also on more of them."""

    kind: int
    amount: int
    parallel: Parallel | None
    or_more: bool = False


@dataclass(frozen=True)
class Barred:
    """Designs that are not to be answered: no placement has them, or theirs is known.

    Attributes
    ----------
    uses : what each of some components takes.
    inside : pairs of these, of which the first uses no accelerator that the second does not use; no others of them share any.
    segments : the parts of the iteration; None where they make no difference.
    """

    uses: Mapping[str, Use]
    inside: frozenset[tuple[str, str]] = frozenset()
    segments: tuple[int, ...] | None = field(default=None)


@dataclass(frozen=True)
class Shared:
    """Accelerators that components hold by given ranks which are not planned, and let others use.

    Attributes
    ----------
    accelerators : how many; they are in the kinds too.
    kinds : the kinds that have them.
    users : the planned components that may be on them.
    """

    accelerators: int
    kinds: frozenset[int]
    users: frozenset[str]

    def lets(self, kind: int, components: Iterable[str]) -> bool:
        """May accelerators of a kind that exactly these use be among them?"""
        return kind in self.kinds and self.users.issuperset(components)


@dataclass(frozen=True, slots=True)
class Crossed:
    """One level of the topology.

    Attributes
    ----------
    cost : nanoseconds for each MiB that crosses it.
    free : for each kind of accelerators, for each domain of the level: how many are free on each of its nodes of this kind.
    """

    cost: int
    free: tuple[tuple[tuple[int, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """What one component sends another; see models/link.py."""

    source: str
    target: str
    weights: int = 0
    stream: int = 0
    ratio: int = 1


@dataclass(frozen=True)
class Crossing:
    """What crosses levels.

    Attributes
    ----------
    traffic : MiB that a component exchanges for every domain beyond its first.
    fixed : nanoseconds of what crosses in every design alike: inside and between components whose place is given.
    """

    levels: tuple[Crossed, ...]
    traffic: Mapping[str, int]
    flows: tuple[Flow, ...]
    fixed: int = 0
