"""What of a question says how much crosses the topology, where that counts as time: room in domains, and what components exchange."""

from __future__ import annotations

from typing import Mapping

from ..record import dataclass


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
