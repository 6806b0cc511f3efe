"""Comparison of the plan's machines with the existing ones, before anything is reserved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import error
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import Port, RayNode
from .inventory import survey
from .machine import Device, Machine
from .matching import Match, held_masks, is_shareable_part, pair_up
from .nvidia_smi import SLACK, same_model
from .ray_machine import Report, hardware_of, is_simulated, machine_of

_HELP = "discover the cluster as it is (`placewright discover`) and solve for that"


@dataclass(frozen=True)
class Survey:
    """Survey of nodes: Ray node id -> report, and Ray node id -> reason for a missing report."""

    reports: Mapping[str, Report] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


NO_SURVEY = Survey()


def survey_real_nodes(port: Port) -> Survey:
    """Survey every node that is not simulated."""
    real = [node for node in port.nodes() if not is_simulated(node)]
    return Survey(*survey(port, real)) if real else NO_SURVEY


def match_machines(plan: Plan, available: Sequence[RayNode], seen: Survey = NO_SURVEY, share_nodes: bool = False) -> dict[int, Match]:
    """Return node rank -> Match, for every node that carries a process of the plan.

    Raises LaunchFailed (PW702) with all shortages and deviations from the plan: nodes, numbers of
    accelerators and other hardware, models, memory, ids, and used accelerators that the plan counts
    as free. Facts that neither Ray nor a survey reports are not compared; nor are ids on nodes that
    are reserved only in part (`share_nodes`), because other accelerators may replace them.
    """
    matches, faults = pair_up(plan, available)
    kinds, masks = hardware_there(available), held_masks(plan)
    for rank, match in matches.items():
        report = None if is_simulated(match.ray) else seen.reports.get(match.ray.node_id)
        mask = masks.get(rank, 0)
        held = 0 if share_nodes and is_shareable_part(plan, match, mask) else mask
        for message, help, amount in _differences(plan, match, report, kinds, held):
            location = f"node {rank} (`{match.node.name}`, Ray node `{match.ray.name}`)"
            faults.append(error("PW702", match.node.name, f"{location} {message}", help=help, witnesses=(rank,), amount=amount))
    if faults:
        raise LaunchFailed(*sorted(faults, key=lambda finding: finding.witnesses))
    return matches


def hardware_there(available: Sequence[RayNode]) -> dict[str, dict[str, int]]:
    """Return lower-case hardware type in Ray -> Ray node id -> number of devices."""
    hardware: dict[str, dict[str, int]] = {}
    for ray in available:
        for kind in hardware_of(ray):
            counts = hardware.setdefault(kind.lower(), {})
            counts[ray.node_id] = counts.get(ray.node_id, 0) + 1
    return hardware


def _differences(
    plan: Plan, match: Match, report: Report | None, kinds: Mapping[str, Mapping[str, int]], held: int
) -> Iterator[tuple[str, str, int]]:
    """Yield (difference, help, amount) of a node; `held`: mask of accelerators named by id."""
    node, machine = match.node, machine_of(match.ray, report)
    models = sorted({device.model for device in machine.devices if not same_model(node.accelerator_model, device.model)})
    if node.accelerators and models:
        yield f"has {', '.join(models)} accelerators, the plan says {node.accelerator_model}", _HELP, 1
    least = min((device.memory for device in machine.devices if device.memory is not None), default=None)
    if least is not None and node.accelerator_memory is not None and least < node.accelerator_memory * (1 - SLACK):
        message = f"has accelerators with {least} MiB of memory, the plan says {node.accelerator_memory} MiB"
        yield message, _HELP, node.accelerator_memory - least
    yield from _other_hardware(plan, match, kinds)
    if report is not None:
        yield from _ids(match, machine, report, held)


def _other_hardware(plan: Plan, match: Match, kinds: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, str, int]]:
    """Compare hardware besides accelerators, for the types counted by Ray."""
    kinds_used = {run.kind for runs in plan.assignment.runs.values() for run in runs if run.node == match.node.rank}
    for kind in sorted(kinds_used - {ACCELERATOR, NODE}):
        has, need = kinds.get(kind.lower(), {}).get(match.ray.node_id, 0), match.node.count(kind)
        if kind.lower() in kinds and has < need:
            yield f"needs {need} `{kind}`, it has {has}", f"start Ray there with `--resources` that names its `{kind}`", need - has


def _ids(match: Match, machine: Machine, report: Report, held: int) -> Iterator[tuple[str, str, int]]:
    """Compare accelerators that processes use: missing ones, and ones in use by others."""
    all_there = [Device(str(position), uuid=accelerator["uuid"]) for position, accelerator in enumerate(report.get("devices", ()))]
    known = {_identity(device.id, all_there): device for device in machine.devices}
    absent, busy = [], []
    for id in (accelerator.physical_id for accelerator in match.node.accelerators if held >> accelerator.index & 1):
        device = known.get(_identity(id, all_there))
        if device is None:
            absent.append(id)
        elif device.taken:
            busy.append(id)
    if absent:
        present = ", ".join(device.id for device in machine.devices)
        yield f"has the accelerators {present}, the plan names {', '.join(absent)}", _HELP, len(absent)
    if busy:
        message = f"has the accelerators {', '.join(busy)} in use, the plan counts them as free"
        yield message, "end what uses them, or count them as `taken` in the cluster file and solve again", len(busy)


def _identity(id: str, all_there: Sequence[Device]) -> str:
    """Return the UUID of a named accelerator; the name if the UUID is unknown."""
    return next((device.uuid for device in all_there if id == device.id or ("-" in id and device.uuid.startswith(id))), id)
