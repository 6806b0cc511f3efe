"""Locality of a component in the topology: kept together, spread or pinned."""

from __future__ import annotations

from dataclasses import field

from .findings.span import Span
from .record import dataclass

TP, EP, REPLICA, WHOLE = KEPT = ("tp", "ep", "replica", "component")
"""Units to keep together: tp group, ep group, replica, or the whole component."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Limit on the domains of every group of a kind.

    Attributes
    ----------
    what : one of `KEPT`.
    level : a level of the topology (see machines/topology.py), such as ``nvlink_domain``.
    domains : maximum number of domains per group; above 1 for the whole component only.
    required : True for a constraint; False for a penalty in the objective.
    """

    what: str
    level: str
    domains: int = 1
    required: bool = True
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """Minimum number of failure domains of a component.

    Attributes
    ----------
    level : a level of the topology, such as ``rack``.
    domains : minimum number of domains of that level.
    percent : maximum share of the component in one domain, in percent of its groups, rounded up to
        a whole group; 100 for no limit.
    """

    level: str
    domains: int = 1
    percent: int = 100
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pin:
    """Process ranks of a component with a fixed set of nodes."""

    ranks: range
    nodes: tuple[int, ...]
    span: Span | None = field(default=None, compare=False)
