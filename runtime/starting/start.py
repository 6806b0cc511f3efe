"""Start of a plan's workers in one reservation: compare, reserve, start, audit."""

from __future__ import annotations

import os
import uuid
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import Unchecked
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ...models.reserved import cpus_on_nodes
from ..port.port import Port, RayNode
from ..progress import OnStep, Step
from ..reserving.reservation import Reservation
from ..reserving.shortage import node_demand
from ..watching.audit import AuditRow, agreed
from ..watching.monitor import Monitor
from ..workers.group import Gang, WorkerGroup
from ..workers.member import members_of
from ..world.differences import NO_SURVEY, Survey, hardware_there, match_machines
from ..world.interpreters import check_interpreters
from ..world.matching import Match
from ..world.ray_machine import is_simulated
from .sharing import GrantedAccelerators, given, parts_of, with_given


@dataclass(frozen=True)
class Running:
    """Started and audited workers of a plan.

    Attributes
    ----------
    name : name of the reservation, and prefix of the workers' names.
    plan : the running plan.
    groups : component -> workers.
    audit : actual location of every worker, a row per process.
    monitor : detects losses.
    unchecked : demands on nodes that could not be seen.
    given : replacements of accelerators named in the plan, on shared nodes.
    """

    name: str
    plan: Plan
    groups: Mapping[str, WorkerGroup]
    audit: tuple[AuditRow, ...]
    monitor: Monitor
    unchecked: tuple[Unchecked, ...]
    given: tuple[GrantedAccelerators, ...] = ()


def unchecked(plan: Plan, matches: Mapping[int, Match], available: Sequence[RayNode], seen: Survey = NO_SURVEY) -> tuple[Unchecked, ...]:
    """Return hardware unknown to Ray, nodes without a survey, and unverifiable taken
    accelerators.
    """
    return (*_hardware(plan, available), *_not_seen(matches, seen), *_taken(matches, seen))


def _hardware(plan: Plan, available: Sequence[RayNode]) -> Iterator[Unchecked]:
    known = hardware_there(available)
    for name in plan.components:
        for kind in sorted({run.kind for run in plan.assignment.of(name)} - {ACCELERATOR, NODE}):
            if kind.lower() not in known:
                yield Unchecked(kind, name, "Ray does not know whether its nodes have this hardware")


def _not_seen(matches: Mapping[int, Match], survey: Survey) -> Iterator[Unchecked]:
    for match in matches.values():
        if reason := survey.missing.get(match.ray.node_id):
            yield Unchecked("devices", match.node.name, f"nobody could look at the accelerators there: {reason}")


def _taken(matches: Mapping[int, Match], survey: Survey) -> Iterator[Unchecked]:
    for match in matches.values():
        looked = not is_simulated(match.ray) and survey.reports.get(match.ray.node_id, {}).get("devices")
        if match.held and match.node.taken and not looked:
            yield Unchecked("taken", match.node.name, "Ray does not say which accelerators its other jobs have there")


@dataclass(frozen=True)
class StartOptions:
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
    seen: Survey = NO_SURVEY
    share_nodes: bool = False
    name: str = ""


def start(stack: ExitStack, plan: Plan, available: Sequence[RayNode], way: StartOptions) -> Running:
    """Compare, reserve, start and audit; the stack undoes everything. `available`: ordered nodes.

    The running plan has the granted accelerators (see sharing.py).
    """
    port = way.port
    way.progress(Step("reserving"))
    matches = match_machines(plan, available, way.seen, way.share_nodes)
    check_interpreters(port, plan, matches)
    job = "-".join(filter(None, ("placewright", way.name, uuid.uuid4().hex[:8])))
    cpus = cpus_on_nodes(plan)
    parts = parts_of(plan, matches)
    wanted = [node_demand(match, cpus.get(rank, 0), parts.get(rank, 0).bit_count(), way.share_nodes) for rank, match in matches.items()]
    reservation = Reservation(port, job, wanted)
    stack.callback(reservation.release)
    reservation.acquire(way.wait)
    replacements = given(reservation, matches, parts) if way.share_nodes and parts else ()
    for match in replacements:
        way.progress(Step(str(match)))
    plan = with_given(plan, replacements)
    if way.share_nodes and parts:
        match_machines(plan, available, way.seen)  # repeated with the accelerators actually granted
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
