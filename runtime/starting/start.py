"""The start of a plan's workers in one reservation: compared, reserved, started, audited."""

from __future__ import annotations

import os
import uuid
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Sequence

from ...models.placements.plan import Plan
from ...models.reserved import cpus_on_nodes
from ..port.node import RayNode
from ..port.port import Port
from ..progress import OnStep, Step
from ..reserving.reservation import Reservation
from ..reserving.wanted import wanted_of
from ..watching.audit import agreed
from ..watching.monitor import Monitor
from ..workers.gang import Gang
from ..workers.group import WorkerGroup
from ..workers.member import members_of
from ..world.differences import NOTHING_SEEN, Seen, compared
from ..world.interpreters import check_interpreters
from .running import Running
from .sharing import given, parts_of, with_given
from .unchecked import unchecked


@dataclass(frozen=True)
class Way:
    """How workers are started, whatever the plan: of which class, within how many seconds, after how long a wait for others.

    `name`: how others call the launch, which its reservation is called after. `seen`: what was found by looking at the nodes, with which plans are compared. `share_nodes`: of a node that the plan uses in
    part, is only so much held, and any accelerators of it taken for those that the plan names?
    """

    port: Port
    worker: str | type
    timeout: float
    wait: float
    progress: OnStep
    seen: Seen = NOTHING_SEEN
    share_nodes: bool = False
    name: str = ""


def start(stack: ExitStack, plan: Plan, available: Sequence[RayNode], way: Way) -> Running:
    """Compares, reserves, starts and audits; the stack undoes what was done. `available`: the nodes that are there, in their order.

    What runs is the plan with the accelerators that it was given (see sharing.py).
    """
    port = way.port
    way.progress(Step("reserving"))
    matches = compared(plan, available, way.seen, way.share_nodes)
    check_interpreters(port, plan, matches)
    job = "-".join(filter(None, ("placewright", way.name, uuid.uuid4().hex[:8])))
    cpus = cpus_on_nodes(plan)
    parts = parts_of(plan, matches)
    wanted = [wanted_of(each, cpus.get(rank, 0), parts.get(rank, 0).bit_count(), way.share_nodes) for rank, each in matches.items()]
    reservation = Reservation(port, job, wanted)
    stack.callback(reservation.release)
    reservation.acquire(way.wait)
    others = given(reservation, matches, parts) if way.share_nodes and parts else ()
    for each in others:
        way.progress(Step(str(each)))
    plan = with_given(plan, others)
    if way.share_nodes and parts:
        compared(plan, available, way.seen)  # now it is known which accelerators are meant
    groups = []
    for component in plan.components:
        first = plan.placements(component)[0].node_rank
        groups.append(WorkerGroup(port, component, members_of(plan, component, job, matches[first].ray.address), way.worker))
    gang = Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, groups)
    stack.callback(gang.kill)
    monitor = Monitor(port, reservation.hold, {rank: each.ray.node_id for rank, each in matches.items()}, groups)
    for group in groups:
        group.alarm = monitor.check

    audited = partial(agreed, plan, matches)
    rows = audited(gang.start([os.getcwd()], way.timeout, way.progress, audited))  # the constructors may change what is seen
    return Running(job, plan, gang.groups, rows, monitor, unchecked(plan, matches, available, way.seen), others)
