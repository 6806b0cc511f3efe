"""Start of a plan's workers: compare, reserve, start, audit; accelerators of shared nodes."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Mapping, Sequence

from ...models.findings.finding import Finding, Unchecked, error
from ...models.findings.wording import with_noun
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.assignment import Assignment, compress
from ...models.placements.plan import Plan
from ...models.placements.run import Run
from ...models.ranks import list_ranks
from ..failure import LaunchFailed
from ..port.port import Port, RayNode
from ..progress import OnStep, Step
from ..reserving.reservation import NodeDemand, Reservation, accelerators_given, node_demand
from ..workers.group import Gang, WorkerGroup
from ..workers.member import members_of
from ..world.interpreters import check_interpreters
from ..world.matching import NO_SURVEY, Match, Survey, hardware_there, held_masks, is_shareable_part, match_machines
from ..world.ray_machine import is_simulated
from ..world.vendors import vendor_of
from .audit import AuditRow, check_reports
from .monitor import HEARTBEAT, Monitor

_HELP = "discover the cluster as it is (`placewright discover`) and solve for that"


@dataclass(frozen=True, slots=True)
class GrantedAccelerators:
    """Accelerators granted on a shared node: ascending local indices for those of the plan."""

    node_rank: int
    node: str
    planned: tuple[int, ...]
    given: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.node}: accelerators {list_ranks(self.planned)} of the plan are {list_ranks(self.given)} there"


def parts_of(plan: Plan, matches: Mapping[int, Match]) -> dict[int, int]:
    """Return node rank -> mask of the plan's accelerators, for divisible nodes."""
    masks = held_masks(plan)
    return {rank: masks[rank] for rank, match in matches.items() if rank in masks and is_shareable_part(plan, match, masks[rank])}


def query_granted(reservation: Reservation, matches: Mapping[int, Match], parts: Mapping[int, int]) -> tuple[GrantedAccelerators, ...]:
    """Query the granted accelerators of shared nodes; omit nodes that grant the plan's own.

    Raises LaunchFailed: PW704, PW705 without an answer, PW702 if the plan cannot run on them.
    """
    ids: dict[str, tuple[str, ...]] = {}
    for resource in sorted({vendor.resource for rank in parts if (vendor := vendor_of(matches[rank].node.accelerator_type))}):
        nodes = {matches[rank].ray.node_id: matches[rank].ray for rank in parts}
        ids_of_demands = accelerators_given(reservation.port, reservation.hold, reservation.wanted, resource, nodes)
        ids |= {demand.bundle.node_id: ids_there for demand, ids_there in zip(reservation.wanted, ids_of_demands) if ids_there}
    faults: list[Finding] = []
    replacements: list[GrantedAccelerators] = []
    for rank, mask in parts.items():
        node, ids_there = matches[rank].node, ids.get(matches[rank].ray.node_id, ())
        indices = {
            accelerator.physical_id: accelerator.index for accelerator in node.accelerators if not node.taken >> accelerator.index & 1
        }
        if len(ids_there) != mask.bit_count():
            message = (
                f"node {rank} (`{node.name}`) gave {with_noun(mask.bit_count(), 'accelerator')} and reports the ids of {len(ids_there)}"
            )
            faults.append(error("PW702", node.name, message, help="launch without `--share-nodes`", witnesses=(rank,), amount=1))
            continue
        if unfit := [id for id in ids_there if id not in indices]:
            reason = "which the plan's machine does not have or counts as taken"
            message = f"node {rank} (`{node.name}`) gave accelerators {', '.join(unfit)}, {reason}"
            faults.append(error("PW702", node.name, message, help=_HELP, witnesses=(rank,), amount=len(unfit)))
            continue
        plan_indices = tuple(index for index in range(mask.bit_length()) if mask >> index & 1)
        real_indices = tuple(sorted(indices[id] for id in ids_there))
        if plan_indices != real_indices:
            replacements.append(GrantedAccelerators(rank, node.name, plan_indices, real_indices))
    if faults:
        raise LaunchFailed(*faults)
    return tuple(replacements)


def with_given(plan: Plan, replacements: Sequence[GrantedAccelerators]) -> Plan:
    """Return the plan with granted accelerators in place of named ones."""
    if not replacements:
        return plan
    mapping = {grant.node_rank: dict(zip(grant.planned, grant.given)) for grant in replacements}
    runs = {name: tuple(new for run in grant for new in _move(run, mapping.get(run.node))) for name, grant in plan.assignment.runs.items()}
    return replace(plan, assignment=Assignment(runs))


def _move(run: Run, mapping: Mapping[int, int] | None) -> tuple[Run, ...]:
    """Return the run on the replacements; several runs if these follow no pattern."""
    if mapping is None or run.kind != ACCELERATOR or not run.each:
        return (run,)
    processes = ((rank, [(run.node, mapping[index]) for index in run.list_held(rank)]) for rank in run.ranks)
    return compress(processes, run.kind, run.node_group)


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


def list_unchecked(
    plan: Plan, matches: Mapping[int, Match], available: Sequence[RayNode], survey: Survey = NO_SURVEY
) -> tuple[Unchecked, ...]:
    """Return hardware unknown to Ray, nodes not surveyed, unverifiable taken accelerators."""
    gaps, hardware = list[Unchecked](), hardware_there(available)
    for name in plan.components:
        for kind in sorted({run.kind for run in plan.assignment.of(name)} - {ACCELERATOR, NODE}):
            if kind.lower() not in hardware:
                gaps.append(Unchecked(kind, name, "Ray does not know whether its nodes have this hardware"))
    for match in matches.values():
        if reason := survey.missing.get(match.ray.node_id):
            gaps.append(Unchecked("devices", match.node.name, f"the accelerators there are not inspected: {reason}"))
        is_inspected = not is_simulated(match.ray) and survey.reports.get(match.ray.node_id, {}).get("devices")
        if match.held and match.node.taken and not is_inspected:
            gaps.append(Unchecked("taken", match.node.name, "Ray does not say which accelerators its other jobs have there"))
    return tuple(gaps)


@dataclass(frozen=True)
class StartOptions:
    """Means of a start, for any plan: worker class, time limits, and sharing.

    `timeout`: seconds for all workers to be ready; `wait`: seconds for resources of other jobs.
    `name`: name of the launch for others, part of the reservation's name. `seen`: survey of the
    nodes, compared with plans. `share_nodes`: True if a node used in part is reserved only in part,
    with any accelerators in place of the named ones. `log_dir`: folder, on every node, for what
    workers print; "": Ray's logs. `heartbeat`: seconds of silence after which a worker is lost.
    """

    port: Port
    worker: str | type
    timeout: float
    wait: float
    progress: OnStep
    seen: Survey = NO_SURVEY
    share_nodes: bool = False
    name: str = ""
    log_dir: str = ""
    heartbeat: float = HEARTBEAT


def demands(plan: Plan, available: Sequence[RayNode], options: StartOptions) -> tuple[dict[int, Match], dict[int, int], list[NodeDemand]]:
    """Compare the plan with the nodes; return matches, shareable parts, and what to reserve."""
    matches = match_machines(plan, available, options.seen, options.share_nodes)
    check_interpreters(options.port, plan, matches)
    cpus, parts = plan.cpus_on_nodes, parts_of(plan, matches)
    node_demands = [
        node_demand(match, cpus.get(rank, 0), parts.get(rank, 0).bit_count(), options.share_nodes) for rank, match in matches.items()
    ]
    return matches, parts, node_demands


def start(stack: ExitStack, plan: Plan, available: Sequence[RayNode], options: StartOptions) -> Running:
    """Compare, reserve, start and audit; the stack undoes everything. `available`: ordered nodes."""
    port = options.port
    options.progress(Step("reserving"))
    matches, parts, node_demands = demands(plan, available, options)
    job = "-".join(filter(None, ("placewright", options.name, uuid.uuid4().hex[:8])))
    reservation = Reservation(port, job, node_demands)
    stack.callback(reservation.release)
    reservation.acquire(options.wait)
    replacements = query_granted(reservation, matches, parts) if options.share_nodes and parts else ()
    for match in replacements:
        options.progress(Step(str(match)))
    plan = with_given(plan, replacements)
    if options.share_nodes and parts:
        match_machines(plan, available, options.seen)  # repeated with the accelerators actually granted
    groups = []
    for component in plan.components:
        first = plan.placements(component)[0].node_rank
        groups.append(
            WorkerGroup(port, component, members_of(plan, component, job, matches[first].ray.address, options.log_dir), options.worker)
        )
    gang = Gang(port, reservation, {rank: number for number, rank in enumerate(matches)}, groups)
    stack.callback(gang.kill)
    monitor = Monitor(port, reservation.hold, {rank: match.ray.node_id for rank, match in matches.items()}, groups, options.heartbeat)
    for group in groups:
        group.alarm = monitor.check

    audit = partial(check_reports, plan, matches)
    rows = audit(gang.start(options.timeout, options.progress, audit))  # constructors may change the visible accelerators
    return Running(job, plan, gang.groups, rows, monitor, list_unchecked(plan, matches, available, options.seen), replacements)
