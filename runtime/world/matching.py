"""Match of plan nodes and Ray nodes: by label, by name, or by order and accelerator count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

from ...models.findings.finding import Finding, error
from ...models.findings.wording import with_noun
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.port import RANK_LABEL, RayNode
from .machine import unique_names
from .ray_machine import name_of
from .vendors import RESOURCES, vendor_of


@dataclass(frozen=True, slots=True)
class Match:
    """Node of the plan and its Ray node; `held`: True if a process uses accelerators there."""

    node: Node
    ray: RayNode
    held: bool = True


def used_nodes(plan: Plan) -> dict[int, int]:
    """Return node rank -> number of the plan's processes; nodes without processes are omitted."""
    ranks: dict[int, int] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            ranks[run.node] = ranks.get(run.node, 0) + len(run.ranks)
    return dict(sorted(ranks.items()))


def held_masks(plan: Plan) -> dict[int, int]:
    """Return node rank -> bit mask of the accelerators that processes use.

    A process placed on the node itself only sees them.
    """
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
    numbered = all(accelerator.physical_id == str(accelerator.index) for accelerator in node.accelerators)
    return plan_accelerators(node) == ray_accelerators(node, ray) and plan.isolate_accelerator and numbered


def match(plan: Plan, available: Sequence[RayNode]) -> dict[int, Match]:
    """Return node rank -> Match for every node in use; see `pair_up`.

    Raises LaunchFailed (PW702) with a finding per unmatched node.
    """
    matches, short = pair_up(plan, available)
    if short:
        raise LaunchFailed(*short)
    return matches


def pair_up(plan: Plan, available: Sequence[RayNode]) -> tuple[dict[int, Match], list[Finding]]:
    """Return (node rank -> Match, a PW702 per unmatched node) for the nodes in use.

    If any Ray node has a rank label, labels alone decide, unless they miss a node of the plan and
    names do not: after a node is gone, later nodes have other ranks in a plan than on their labels.
    Otherwise stable names decide, if all nodes of the plan have them. Otherwise every node of the
    plan, in rank order, takes the first remaining Ray node with exactly its number of accelerators,
    or more.
    """
    used, masks = used_nodes(plan), held_masks(plan)
    pairs = paired(plan.cluster.nodes, available)
    matches: dict[int, Match] = {}
    short: list[Finding] = []
    for rank in used:
        node, ray = plan.cluster.nodes[rank], pairs.get(rank)
        if ray is None:
            short.append(_missing(node, available))
        elif plan_accelerators(node) > ray_accelerators(node, ray):
            short.append(_shortage(node, ray))
        else:
            matches[rank] = Match(node, ray, rank in masks)
    return matches, short


def plan_accelerators(node: Node) -> int:
    """Return the number of accelerators of a plan node."""
    return len(node.accelerators)


def ray_accelerators(node: Node, ray: RayNode) -> int:
    """Return the number of accelerators of the node's kind on a Ray node.

    For a node without accelerators: of any kind.
    """
    vendor = vendor_of(node.accelerator_type)
    return int(sum(ray.total.get(name, 0) for name in ((vendor.resource,) if vendor else RESOURCES)))


def paired(nodes: Sequence[Node], available: Sequence[RayNode]) -> dict[int, RayNode]:
    """Return node rank -> its Ray node, regardless of the accelerator count; see `match`."""
    labelled = {ray.rank: ray for ray in reversed(available) if ray.rank is not None}
    by_name = dict(zip(unique_names([name_of(ray) for ray in available]), available))
    named = all(node.name in by_name for node in nodes)
    if labelled and not (named and any(node.rank not in labelled for node in nodes)):
        return labelled
    if named:
        return {node.rank: by_name[node.name] for node in nodes}
    remaining = list(available)
    pairs: dict[int, RayNode] = {}
    for node in nodes:
        ray = _first(node, remaining)
        if ray is not None:
            pairs[node.rank] = ray
            remaining.remove(ray)
    return pairs


def _first(node: Node, remaining: Iterable[RayNode]) -> RayNode | None:
    """Return the first Ray node with the node's accelerator count, else more, else any."""
    return min(
        remaining,
        key=lambda ray: (ray_accelerators(node, ray) < plan_accelerators(node), ray_accelerators(node, ray) != plan_accelerators(node)),
        default=None,
    )


def _missing(node: Node, available: Sequence[RayNode]) -> Finding:
    labelled = any(ray.rank is not None for ray in available)
    reason = (
        f"no Ray node has the label {RANK_LABEL}={node.rank}" if labelled else f"the Ray cluster has {with_noun(len(available), 'node')}"
    )
    message = f"node {node.rank} (`{node.name}`) is missing: {reason}"
    return error(
        "PW702", node.name, message, help="start the missing node, or solve for the cluster that is there", witnesses=(node.rank,), amount=1
    )


def _shortage(node: Node, ray: RayNode) -> Finding:
    message = f"node {node.rank} (`{node.name}`) needs {with_noun(plan_accelerators(node), 'accelerator')}, its Ray node `{ray.name}` has {ray_accelerators(node, ray)}"
    help = "start it with as many as the plan says, or solve for the cluster that is there"
    return error(
        "PW702", node.name, message, help=help, witnesses=(node.rank,), amount=plan_accelerators(node) - ray_accelerators(node, ray)
    )
