"""Demand of the user, one field at a time: the unit of conflicts and fixes."""

from __future__ import annotations

import dataclasses

from .findings.span import Span
from .record import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Demand:
    """Changeable field of a component or relation in the user's file.

    `component` is a component's name, or both names of a relation joined by ``+``.
    """

    component: str
    field: str
    span: Span | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ConflictClause:
    """Part of "because ... and ...": a demand with the rule's number about the cluster.

    Without demands it is a fact of the cluster that cannot be given up.
    """

    text: str
    demands: tuple[Demand, ...] = ()
