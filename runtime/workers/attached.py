"""Group of workers that another process started."""

from __future__ import annotations

from typing import Sequence

from ...models.machines.accelerators import NO_ACCELERATOR
from ...models.machines.node_group import CLUSTER_LABEL
from ...models.placements.placement import Placement
from ..port.port import Actor, Port
from .group import WorkerGroup
from .member import Member

ELSEWHERE = "a node that others chose"


def attached(port: Port, component: str, names: Sequence[str], handles: Sequence[Actor], worker: type) -> WorkerGroup:
    """Build a group of these workers in order; `names` may be empty. The placements are unknown."""
    members = []
    for rank in range(len(handles)):
        placement = Placement(rank, -1, ELSEWHERE, -1, -1, NO_ACCELERATOR, rank, len(handles), (), True, (), CLUSTER_LABEL)
        members.append(Member(placement, names[rank] if names else f"{component}:{rank}", {}))
    group = WorkerGroup(port, component, members, worker)
    group.workers = list(handles)
    return group
