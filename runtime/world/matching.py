"""Match of plan nodes and Ray nodes, and the differences between plan and cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Collection, Iterator, Mapping, Sequence

from ...models.findings.finding import Finding, error
from ...models.findings.wording import with_noun
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR, NODE
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import RANK_LABEL, Port, RayNode
from .inventory import survey
from .machine import Machine, unique_names
from .nvidia_smi import SLACK, same_model
from .ray_machine import Report, hardware_of, is_simulated, machine_of, name_of, position_of
from .vendors import RESOURCES, vendor_of


@dataclass(frozen=True, slots=True)
class Match:
    """Node of the plan and its Ray node; `held`: True if a process uses accelerators there."""

    node: Node
    ray: RayNode
    held: bool = True

    @property
    def where(self) -> str:
        """Description of the node for messages."""
        return f"node {self.node.rank} (`{self.node.name}`, Ray node `{self.ray.name}`)"


def used_nodes(plan: Plan) -> dict[int, int]:
    """Return node rank -> number of the plan's processes; nodes without processes are omitted."""
    ranks: dict[int, int] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            ranks[run.node] = ranks.get(run.node, 0) + len(run.ranks)
    return dict(sorted(ranks.items()))


def held_masks(plan: Plan) -> dict[int, int]:
    """Return node rank -> bit mask of the accelerators in use, more than just seen."""
    masks: dict[int, int] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            if run.kind == ACCELERATOR and run.each:
                masks[run.node] = masks.get(run.node, 0) | run.mask
    return masks


def is_shareable_part(plan: Plan, match: Match, mask: int) -> bool:
    """Return True if the accelerators in `mask` can be replaced by any of the node.

    False if the plan uses all or none of them, if its processes see the whole node, if the node has
    ids of its own, or if it deviates from the plan.
    """
    return 0 < mask.bit_count() < plan_accelerators(match.node) and is_interchangeable(plan, match.node, match.ray)


def is_interchangeable(plan: Plan, node: Node, ray: RayNode) -> bool:
    """Return True if any accelerators of this node are interchangeable; see `is_shareable_part`."""
    has_plain_ids = all(accelerator.physical_id == str(accelerator.index) for accelerator in node.accelerators)
    return plan_accelerators(node) == ray_accelerators(node, ray) and plan.isolate_accelerator and has_plain_ids


def pair_up(plan: Plan, available: Sequence[RayNode]) -> tuple[dict[int, Match], list[Finding]]:
    """Return (node rank -> Match, a PW702 per unmatched node) for the nodes in use.

    If any Ray node has a rank label, labels alone decide, unless they miss a node of the plan and
    names do not: after a node is gone, later nodes have other ranks in a plan than on their labels.
    Otherwise stable names decide, if all nodes of the plan have them. Otherwise every node of the
    plan, in rank order, takes the first remaining Ray node with exactly its number of accelerators,
    or more.
    """
    node_ranks, masks = used_nodes(plan), held_masks(plan)
    pairs = pair_nodes(plan.cluster.nodes, available)
    matches: dict[int, Match] = {}
    short: list[Finding] = []
    for rank in node_ranks:
        node, ray = plan.cluster.nodes[rank], pairs.get(rank)
        if ray is None:
            short.append(_missing(node, available))
        elif plan_accelerators(node) > ray_accelerators(node, ray):
            need, has = plan_accelerators(node), ray_accelerators(node, ray)
            message = f"node {node.rank} (`{node.name}`) needs {with_noun(need, 'accelerator')}, its Ray node `{ray.name}` has {has}"
            help = "start it with as many as the plan says, or solve for the cluster that is there"
            short.append(error("PW702", node.name, message, help=help, witnesses=(node.rank,), amount=need - has))
        else:
            matches[rank] = Match(node, ray, rank in masks)
    return matches, short


def plan_accelerators(node: Node) -> int:
    """Return the number of accelerators of a plan node."""
    return len(node.accelerators)


def ray_accelerators(node: Node, ray: RayNode) -> int:
    """Return the Ray node's accelerators of the node's kind; of any kind without one."""
    vendor = vendor_of(node.accelerator_type)
    return int(sum(ray.total.get(name, 0) for name in ((vendor.resource,) if vendor else RESOURCES)))


def pair_nodes(nodes: Sequence[Node], available: Sequence[RayNode]) -> dict[int, RayNode]:
    """Return node rank -> its Ray node, regardless of the accelerator count; see `pair_up`."""
    by_label = {ray.rank: ray for ray in reversed(available) if ray.rank is not None}
    by_name = dict(zip(unique_names([name_of(ray) for ray in available]), available))
    have_names = all(node.name in by_name for node in nodes)
    if by_label and not (have_names and any(node.rank not in by_label for node in nodes)):
        return by_label
    if have_names:
        return {node.rank: by_name[node.name] for node in nodes}
    remaining = list(available)
    pairs: dict[int, RayNode] = {}
    for node in nodes:
        need = plan_accelerators(node)
        exact = next((ray for ray in remaining if ray_accelerators(node, ray) == need), None)
        ray = exact or min(remaining, key=lambda ray: ray_accelerators(node, ray) < need, default=None)
        if ray is not None:
            pairs[node.rank] = ray
            remaining.remove(ray)
    return pairs


def _missing(node: Node, available: Sequence[RayNode]) -> Finding:
    has_labels = any(ray.rank is not None for ray in available)
    count = f"the Ray cluster has {with_noun(len(available), 'node')}"
    reason = f"no Ray node has the label {RANK_LABEL}={node.rank}" if has_labels else count
    message = f"node {node.rank} (`{node.name}`) is missing: {reason}"
    help = "start the missing node, or solve for the cluster that is there"
    return error("PW702", node.name, message, help=help, witnesses=(node.rank,), amount=1)


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


def match_machines(plan: Plan, available: Sequence[RayNode], survey: Survey = NO_SURVEY, share_nodes: bool = False) -> dict[int, Match]:
    """Return node rank -> Match, for every node that carries a process of the plan.

    Raises LaunchFailed (PW702) with all shortages and deviations from the plan: nodes, numbers of
    accelerators and other hardware, models, memory, ids, and used accelerators that the plan counts
    as free. Facts that neither Ray nor a survey reports are not compared; nor are ids on nodes that
    are reserved only in part (`share_nodes`), because other accelerators may replace them.
    """
    matches, faults = pair_up(plan, available)
    kinds, masks, hardware = hardware_there(available), held_masks(plan), _other_kinds(plan)
    for rank, match in matches.items():
        report = None if is_simulated(match.ray) else survey.reports.get(match.ray.node_id)
        mask = masks.get(rank, 0)
        compared_mask = 0 if share_nodes and is_shareable_part(plan, match, mask) else mask
        for message, help, amount in _differences(match, report, kinds, hardware.get(rank, set()), compared_mask):
            faults.append(error("PW702", match.node.name, f"{match.where} {message}", help=help, witnesses=(rank,), amount=amount))
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
    match: Match, report: Report | None, kinds: Mapping[str, Mapping[str, int]], hardware: Collection[str], held_mask: int
) -> Iterator[tuple[str, str, int]]:
    """Yield (difference, help, amount) of a node.

    `hardware`: types of hardware besides accelerators; `held_mask`: mask of accelerators named by id.
    """
    node, machine = match.node, machine_of(match.ray, report)
    models = sorted({device.model for device in machine.devices if not same_model(node.accelerator_model, device.model)})
    if node.accelerators and models:
        yield f"has {', '.join(models)} accelerators, the plan says {node.accelerator_model}", _HELP, 1
    smallest_memory = min((device.memory for device in machine.devices if device.memory is not None), default=None)
    if smallest_memory is not None and node.accelerator_memory is not None and smallest_memory < node.accelerator_memory * (1 - SLACK):
        message = f"has accelerators with {smallest_memory} MiB of memory, the plan says {node.accelerator_memory} MiB"
        yield message, _HELP, node.accelerator_memory - smallest_memory
    for kind in sorted(hardware):  # as far as Ray counts it
        has, need = kinds.get(kind.lower(), {}).get(match.ray.node_id, 0), match.node.count(kind)
        if kind.lower() in kinds and has < need:
            yield f"needs {need} `{kind}`, it has {has}", f"start Ray there with `--resources` that names its `{kind}`", need - has
    if report is not None:
        yield from _ids(match, machine, report, held_mask)


def _other_kinds(plan: Plan) -> dict[int, set[str]]:
    """Return node rank -> types of hardware that processes use there, besides accelerators."""
    kinds: dict[int, set[str]] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            if run.kind not in (ACCELERATOR, NODE):
                kinds.setdefault(run.node, set()).add(run.kind)
    return kinds


def _ids(match: Match, machine: Machine, report: Report, held_mask: int) -> Iterator[tuple[str, str, int]]:
    """Compare accelerators that processes use: missing ones, and ones in use by others."""
    devices = {position_of(device.id, report): device for device in machine.devices}
    absent, busy = [], []
    for id in (accelerator.physical_id for accelerator in match.node.accelerators if held_mask >> accelerator.index & 1):
        device = devices.get(position_of(id, report))
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
