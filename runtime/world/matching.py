"""Which node of the plan is which node of Ray: by label, by name, or by order and number of accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

from ...models.findings.finding import Finding, error
from ...models.findings.wording import with_noun
from ...models.machines.node import Node
from ...models.machines.node_group import ACCELERATOR
from ...models.placements.plan import Plan
from ..failure import LaunchFailed
from ..port.node import RANK_LABEL, RayNode
from .labels import name_of
from .machine import distinct
from .vendors import RESOURCES, vendor_of


@dataclass(frozen=True, slots=True)
class Match:
    """A node of the plan and the Ray node that stands for it; `held`: whether a process holds accelerators there."""

    node: Node
    ray: RayNode
    held: bool = True


def used_nodes(plan: Plan) -> dict[int, int]:
    """node rank -> how many processes of the plan are there; nodes without any are left out."""
    ranks: dict[int, int] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            ranks[run.node] = ranks.get(run.node, 0) + len(run.ranks)
    return dict(sorted(ranks.items()))


def held_masks(plan: Plan) -> dict[int, int]:
    """node rank -> the accelerators that processes hold there, as a bit mask; one that is placed on the node itself only sees them."""
    masks: dict[int, int] = {}
    for runs in plan.assignment.runs.values():
        for run in runs:
            if run.kind == ACCELERATOR and run.each:
                masks[run.node] = masks.get(run.node, 0) | run.mask
    return masks


def in_part(plan: Plan, match: Match, mask: int) -> bool:
    """Could any other accelerators of this node stand for those that the plan holds there, which are this mask?

    Not where it holds all or none, where its processes see the whole node, where the node has ids of its own, or is another than
    the plan says.
    """
    return 0 < mask.bit_count() < count(match.node) and divisible(plan, match.node, match.ray)


def divisible(plan: Plan, node: Node, ray: RayNode) -> bool:
    """Can any accelerators of this node stand for any others of it? See `in_part`, whatever the plan holds there."""
    numbered = all(accelerator.physical_id == str(accelerator.index) for accelerator in node.accelerators)
    return count(node) == has(node, ray) and plan.isolate_accelerator and numbered


def match(plan: Plan, available: Sequence[RayNode]) -> dict[int, Match]:
    """node rank -> the Match, for every node that carries a process of the plan (see `pair_up`).

    Raises LaunchFailed (PW702) with one finding for each node that finds none.
    """
    found, short = pair_up(plan, available)
    if short:
        raise LaunchFailed(*short)
    return found


def pair_up(plan: Plan, available: Sequence[RayNode]) -> tuple[dict[int, Match], list[Finding]]:
    """(node rank -> the Match, a PW702 for each node that finds none) of the nodes that carry a process of the plan.

    If any Ray node has a rank label, labels decide alone, unless they know not every node of the plan and names do: where a
    node is gone, those after it have other ranks in a plan than on their labels. Else the nodes' stable names decide, if the plan's nodes
    all bear one; else each node of the plan, in rank order, takes the first Ray node left that has just its number of accelerators, or more.
    """
    used, held = used_nodes(plan), held_masks(plan)
    standing = paired(plan.cluster.nodes, available)
    found: dict[int, Match] = {}
    short: list[Finding] = []
    for rank in used:
        node, ray = plan.cluster.nodes[rank], standing.get(rank)
        if ray is None:
            short.append(_missing(node, available))
        elif count(node) > has(node, ray):
            short.append(_shortage(node, ray))
        else:
            found[rank] = Match(node, ray, rank in held)
    return found, short


def count(node: Node) -> int:
    """How many accelerators a node of the plan has."""
    return len(node.accelerators)


def has(node: Node, ray: RayNode) -> int:
    """How many accelerators of the node's kind a Ray node has; of any kind, for a node that has none."""
    vendor = vendor_of(node.accelerator_type)
    return int(sum(ray.total.get(name, 0) for name in ((vendor.resource,) if vendor else RESOURCES)))


def paired(nodes: Sequence[Node], available: Sequence[RayNode]) -> dict[int, RayNode]:
    """node rank -> the Ray node that stands for it, however many accelerators that has (see `match`)."""
    labelled = {ray.rank: ray for ray in reversed(available) if ray.rank is not None}
    by_name = dict(zip(distinct([name_of(ray) for ray in available]), available))
    named = all(node.name in by_name for node in nodes)
    if labelled and not (named and any(node.rank not in labelled for node in nodes)):
        return labelled
    if named:
        return {node.rank: by_name[node.name] for node in nodes}
    left = list(available)
    pairs: dict[int, RayNode] = {}
    for node in nodes:
        ray = _first(node, left)
        if ray is not None:
            pairs[node.rank] = ray
            left.remove(ray)
    return pairs


def _first(node: Node, left: Iterable[RayNode]) -> RayNode | None:
    """The first Ray node with just as many accelerators as the node, else the first with more, else the first."""
    return min(left, key=lambda ray: (has(node, ray) < count(node), has(node, ray) != count(node)), default=None)


def _missing(node: Node, available: Sequence[RayNode]) -> Finding:
    labelled = any(ray.rank is not None for ray in available)
    why = f"no Ray node has the label {RANK_LABEL}={node.rank}" if labelled else f"the Ray cluster has {with_noun(len(available), 'node')}"
    message = f"node {node.rank} (`{node.name}`) is missing: {why}"
    return error(
        "PW702", node.name, message, help="start the missing node, or solve for the cluster that is there", witnesses=(node.rank,), amount=1
    )


def _shortage(node: Node, ray: RayNode) -> Finding:
    message = (
        f"node {node.rank} (`{node.name}`) needs {with_noun(count(node), 'accelerator')}, its Ray node `{ray.name}` has {has(node, ray)}"
    )
    help = "start it with as many as the plan says, or solve for the cluster that is there"
    return error("PW702", node.name, message, help=help, witnesses=(node.rank,), amount=count(node) - has(node, ray))
