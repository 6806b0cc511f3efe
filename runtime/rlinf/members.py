"""The workers of a group as processes: their names, and what RLinf's code finds in their environments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping, Sequence

from ...models.placements.plan import Plan
from ..port.on_ray import NAMESPACE
from ..workers.member import Member, members_of
from .cluster import Cluster
from .described import VARIABLE
from .environment import of_the_driver, rlinf_environment


def members_in(
    cluster: Cluster, plan: Plan, name: str, catch_system_failure: bool, arguments: Sequence[Any], named: Mapping[str, Any]
) -> list[Member]:
    """The processes of a group by its plan, in rank order, called ``NAME:RANK``; each constructs its worker with these arguments."""
    master = cluster.get_node_ip(plan.placements(name)[0].node_rank)
    of_all = {**of_the_driver(cluster.environment), VARIABLE: cluster.description}

    def member(its: Member) -> Member:
        placement = its.placement
        address = cluster.get_node_ip(placement.node_rank)
        own = rlinf_environment(cluster.machines, placement, NAMESPACE, catch_system_failure, address)
        environment = {**own, **of_all, **its.environment}
        return replace(its, name=f"{name}:{placement.rank}", environment=environment, arguments=tuple(arguments), named=dict(named))

    return [member(each) for each in members_of(plan, name, "", master)]
