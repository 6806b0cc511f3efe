"""Start of a plan's workers in a single reservation: compared, reserved, started, audited."""

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
    """Means of a start, for any plan: worker class, time limits, and sharing.

    `timeout`: seconds for all workers to be ready; `wait`: seconds for resources of other jobs.
    `name`: name of the launch for others, part of the reservation's name. `seen`: survey of the
    nodes, compared with plans. `share_nodes`: True if a node used in part is reserved only in part,
    with any accelerators in place of the named ones.
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
    """Compare, reserve, start and audit; the stack undoes everything. `available`: ordered nodes.

    The running plan has the granted accelerators (see sharing.py).
    """
    port = way.port
    way.progress(Step("reserving"))
    matches = compared(plan, available, way.seen, way.share_nodes)
    check_interpreters(port, plan, matches)
    job = "-".join(filter(None, ("placewright", way.name, uuid.uuid4().hex[:8])))
    cpus = cpus_on_nodes(plan)
    parts = parts_of(plan, matches)
    wanted = [wanted_of(match, cpus.get(rank, 0), parts.get(rank, 0).bit_count(), way.share_nodes) for rank, match in matches.items()]
    reservation = Reservation(port, job, wanted)
    stack.callback(reservation.release)
    reservation.acquire(way.wait)
    replacements = given(reservation, matches, parts) if way.share_nodes and parts else ()
    for match in replacements:
        way.progress(Step(str(match)))
    plan = with_given(plan, replacements)
    if way.share_nodes and parts:
        compared(plan, available, way.seen)  # repeated with the accelerators actually granted
    groups = []
    for component in plan.components:
        first = plan.placements(component)[0].node_rank
        groups.append(WorkerGroup(port, component, members_of(plan, component, job, matches[first].ray.address), way.worker))
    gang = Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, groups)
    stack.callback(gang.kill)
    monitor = Monitor(port, reservation.hold, {rank: match.ray.node_id for rank, match in matches.items()}, groups)
    for group in groups:
        group.alarm = monitor.check

    audited = partial(agreed, plan, matches)
    rows = audited(gang.start([os.getcwd()], way.timeout, way.progress, audited))  # constructors may change the visible accelerators
    return Running(job, plan, gang.groups, rows, monitor, unchecked(plan, matches, available, way.seen), replacements)
