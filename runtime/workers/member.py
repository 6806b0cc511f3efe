"""One process of a group: where it goes and all that it is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from ...models.placements.placement import Placement
from ...models.placements.plan import Plan
from ..world.configured import configured
from ..world.interpreters import interpreter
from .environment import rank_environment


@dataclass(frozen=True, slots=True)
class Member:
    """A process to be.

    Attributes
    ----------
    placement : where it goes; its rank is its place in the group.
    name : of its actor, unique in the namespace.
    environment : set before the user's class is constructed; MASTER_PORT is added by the group.
    variables : set before the interpreter starts; what the loader or Python itself reads must be here.
    python : the interpreter, if not the node's own.
    arguments, named : for the constructor of the user's class.
    """

    placement: Placement
    name: str
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)


def members_of(plan: Plan, component: str, job: str, address: str) -> list[Member]:
    """The processes of a component of a plan, in rank order; `address` is that of the node of rank 0."""
    placements = plan.placements(component)
    return [
        Member(
            placement, f"{job}/{component}/{placement.rank}", rank_environment(component, placement, len(placements), address),
            configured(plan.cluster, placement), interpreter(plan.cluster, placement),
        )
        for placement in placements
    ]  # fmt: skip
