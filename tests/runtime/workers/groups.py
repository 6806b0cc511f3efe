"""Groups of workers that stand, on a cluster in this process."""

from __future__ import annotations

from typing import Any

from placewright.models.machines.shorthand import read_shorthand
from placewright.models.placements.assignment import Assignment
from placewright.models.placements.plan import VERIFIED, Plan
from placewright.models.placements.run import Run
from placewright.runtime.reserving.reservation import Reservation, node_demand
from placewright.runtime.workers.group import Gang, WorkerGroup
from placewright.runtime.workers.member import members_of
from placewright.runtime.world.inventory import inventory
from placewright.runtime.world.matching import match_machines

from ..fake import FakePort


def started(worker: type, count: int = 4, nodes: int = 2, **more: Any) -> WorkerGroup:
    """A group called `actor` of `count` workers, one accelerator each, laid evenly over nodes of four."""
    group, gang = prepared(FakePort(*[4] * nodes), worker, count, nodes, **more)
    gang.start(10.0)
    return group


def prepared(port: FakePort, worker: type, count: int = 4, nodes: int = 2, name: str = "job", **more: Any) -> tuple[WorkerGroup, Gang]:
    """The same before it is started."""
    each = count // nodes
    runs = tuple(Run(range(each * node, each * (node + 1)), node) for node in range(nodes))
    plan = Plan(read_shorthand(f"{nodes}x4"), Assignment({"actor": runs}), VERIFIED)
    matches = match_machines(plan, inventory(port))
    reservation = Reservation(port, name, [node_demand(each) for each in matches.values()])
    reservation.acquire()
    group = WorkerGroup(port, "actor", members_of(plan, "actor", "job", "10.0.0.1"), worker, **more)
    return group, Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, [group])
