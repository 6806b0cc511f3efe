"""Process of a group: placement, environment, arguments."""

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
    """Process to start.

    Attributes
    ----------
    placement : its location; the rank is that in the group.
    name : name of the actor, unique in the namespace.
    environment : set before the user's class is constructed; the group adds MASTER_PORT.
    variables : set before the interpreter starts; needed for variables that the loader or Python
        reads.
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
    """Return the processes of a plan's component, in rank order.

    `address`: of the node of rank 0.
    """
    placements = plan.placements(component)
    return [
        Member(
            placement, f"{job}/{component}/{placement.rank}", rank_environment(component, placement, len(placements), address),
            configured(plan.cluster, placement), interpreter(plan.cluster, placement),
        )
        for placement in placements
    ]  # fmt: skip
