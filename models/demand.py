"""What the user asked for, one field at a time: the unit of every reason and every fix."""

from __future__ import annotations

import dataclasses

from .findings.span import Span
from .record import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Demand:
    """One thing that the user wrote and could write differently.

    `component` is a component's name, or both names of a relation joined by ``+``; `field` is what was said of it.
    """

    component: str
    field: str
    span: Span | None = dataclasses.field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Clause:
    """One rule's part of "because ... and ...": the demand in the user's words with the rule's own number about the cluster.

    Without demands it is a fact of the cluster, which nobody can be asked to give up.
    """

    text: str
    demands: tuple[Demand, ...] = ()
