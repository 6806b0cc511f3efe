"""Workers of a group as processes: names and RLinf's environment variables."""

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
    """Return the processes of a group in rank order, named ``NAME:RANK``.

    `arguments` and `named` go to every worker's constructor.
    """
    master = cluster.get_node_ip(plan.placements(name)[0].node_rank)
    common = {**of_the_driver(cluster.environment), VARIABLE: cluster.description}

    def member(planned: Member) -> Member:
        placement = planned.placement
        address = cluster.get_node_ip(placement.node_rank)
        rlinf_variables = rlinf_environment(cluster.machines, placement, NAMESPACE, catch_system_failure, address)
        environment = {**rlinf_variables, **common, **planned.environment}
        return replace(planned, name=f"{name}:{placement.rank}", environment=environment, arguments=tuple(arguments), named=dict(named))

    return [member(planned) for planned in members_of(plan, name, "", master)]
