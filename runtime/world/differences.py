"""The plan's machines beside those that are there, before anything is reserved: all that differs, at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, Mapping, Sequence

from ...models.findings.finding import error
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.node import RayNode
from ..port.port import Port
from .found import Report, hardware_of, machine_of
from .inventory import survey
from .labels import is_simulated
from .machine import Device, Machine
from .matching import Match, held_masks, in_part, pair_up
from .sources.model_names import SLACK, same_model

_HELP = "discover the cluster as it is (`placewright discover`) and solve for that"


@dataclass(frozen=True)
class Seen:
    """What was seen by looking at nodes: Ray's node id -> the report, and -> why there is none."""

    reports: Mapping[str, Report] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


NOTHING_SEEN = Seen()


def look_at(port: Port) -> Seen:
    """What is seen by looking at every node that is not simulated."""
    real = [node for node in port.nodes() if not is_simulated(node)]
    return Seen(*survey(port, real)) if real else NOTHING_SEEN


def compared(plan: Plan, available: Sequence[RayNode], seen: Seen = NOTHING_SEEN, share_nodes: bool = False) -> dict[int, Match]:
    """node rank -> the Match, for every node that carries a process of the plan.

    Raises LaunchFailed (PW702) with everything that is less than, or other than, the plan says: nodes, numbers of
    accelerators and other hardware, models, memory, ids, and accelerators that are in use though the plan counts them as free.
    What neither Ray nor a look at the node tells is not compared; nor are the ids of nodes of which only a part is to be held
    (`share_nodes`), because others may stand for them.
    """
    matches, faults = pair_up(plan, available)
    kinds, masks = hardware_there(available), held_masks(plan)
    for rank, match in matches.items():
        report = None if is_simulated(match.ray) else seen.reports.get(match.ray.node_id)
        mask = masks.get(rank, 0)
        held = 0 if share_nodes and in_part(plan, match, mask) else mask
        for message, help, amount in _differences(plan, match, report, kinds, held):
            where = f"node {rank} (`{match.node.name}`, Ray node `{match.ray.name}`)"
            faults.append(error("PW702", match.node.name, f"{where} {message}", help=help, witnesses=(rank,), amount=amount))
    if faults:
        raise LaunchFailed(*sorted(faults, key=lambda finding: finding.witnesses))
    return matches


def hardware_there(available: Sequence[RayNode]) -> dict[str, dict[str, int]]:
    """Type of other hardware that Ray knows, in small letters -> Ray's node id -> how many the node has."""
    found: dict[str, dict[str, int]] = {}
    for ray in available:
        for kind in hardware_of(ray):
            its = found.setdefault(kind.lower(), {})
            its[ray.node_id] = its.get(ray.node_id, 0) + 1
    return found


def _differences(
    plan: Plan, match: Match, report: Report | None, kinds: Mapping[str, Mapping[str, int]], held: int
) -> Iterator[tuple[str, str, int]]:
    """(what differs, help, how much) of one node, of which the accelerators in the mask `held` are meant by their ids."""
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
    """Of the hardware that processes hold there, that which Ray knows by its name on any node."""
    held = {run.kind for runs in plan.assignment.runs.values() for run in runs if run.node == match.node.rank}
    for kind in sorted(held - {ACCELERATOR, NODE}):
        has, need = kinds.get(kind.lower(), {}).get(match.ray.node_id, 0), match.node.count(kind)
        if kind.lower() in kinds and has < need:
            yield f"needs {need} `{kind}`, it has {has}", f"start Ray there with `--resources` that names its `{kind}`", need - has


def _ids(match: Match, machine: Machine, report: Report, held: int) -> Iterator[tuple[str, str, int]]:
    """Accelerators that processes hold there and that do not exist, or that somebody else uses."""
    all_there = [Device(str(position), uuid=each["uuid"]) for position, each in enumerate(report.get("devices", ()))]
    known = {_identity(device.id, all_there): device for device in machine.devices}
    absent, busy = [], []
    for id in (each.physical_id for each in match.node.accelerators if held >> each.index & 1):
        device = known.get(_identity(id, all_there))
        if device is None:
            absent.append(id)
        elif device.taken:
            busy.append(id)
    if absent:
        there = ", ".join(device.id for device in machine.devices)
        yield f"has the accelerators {there}, the plan names {', '.join(absent)}", _HELP, len(absent)
    if busy:
        message = f"has the accelerators {', '.join(busy)} in use, the plan counts them as free"
        yield message, "end what uses them, or count them as `taken` in the cluster file and solve again", len(busy)


def _identity(id: str, all_there: Sequence[Device]) -> str:
    """The UUID of an accelerator, however it is named; the name itself where that is not known."""
    return next((device.uuid for device in all_there if id == device.id or ("-" in id and device.uuid.startswith(id))), id)
