"""Where the parts of a component may be, seen from the topology: what stays together, what is spread, what is pinned."""

from __future__ import annotations

from dataclasses import field

from .findings.span import Span
from .record import dataclass

TP, EP, REPLICA, WHOLE = KEPT = ("tp", "ep", "replica", "component")
"""What can be kept together: a tensor parallel group, an expert parallel group, a replica, the whole component."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Every group of one kind lies inside so many domains of a level of the topology.

    Attributes
    ----------
    what : one of `KEPT`.
    level : a level of the topology (see machines/topology.py), such as ``nvlink_domain``.
    domains : how many domains of that level a group may lie in at most; more than one for the whole component only.
    required : whether an answer that breaks it is refused; if not, breaking it costs in the objective.
    """

    what: str
    level: str
    domains: int = 1
    required: bool = True
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Spread:
    """A component lies in several failure domains.

    Attributes
    ----------
    level : a level of the topology, such as ``rack``.
    domains : in how many domains of that level it lies at least.
    percent : how much of it one domain may hold at most, in percent of its groups, rounded up to a whole group; 100 for no limit.
    """

    level: str
    domains: int = 1
    percent: int = 100
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Pin:
    """Process ranks of a component that must be on certain nodes."""

    ranks: range
    nodes: tuple[int, ...]
    span: Span | None = field(default=None, compare=False)
