"""Accelerators in use by other jobs, which a restart avoids."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence

from ....models.machines.cluster import Cluster
from ....models.machines.node import Node
from ....models.placements.plan import Plan
from ...port.node import RayNode
from ...port.port import Port
from ...reserving.fitting import NOISE
from ...reserving.reservation import FIRST_PAUSE, LONGEST_PAUSE, WAIT_LIMIT
from ...reserving.words import held_on
from ...world.found import resource_of
from ...world.matching import divisible, held_masks


def occupied(port: Port, ours: str = "") -> dict[str, int]:
    """Return Ray node id -> number of accelerators in use outside the reservation `ours`.

    Nodes without such use are omitted. Released accelerators count as used until Ray has noticed.
    Use without a reservation, such as a single task with a GPU, is therefore believed only after a
    moment.
    """
    deadline, pause = port.now() + WAIT_LIMIT, FIRST_PAUSE
    while True:
        nodes, holdings = port.nodes(), port.holdings()
        used = {node.node_id: node.total.get(resource_of(node), 0.0) - node.free.get(resource_of(node), 0.0) for node in nodes}
        reserved = {node.node_id: held_on(holdings, resource_of(node)).get(node.node_id, {}) for node in nodes}
        settled = all(used[node_id] <= sum(amounts.values()) + NOISE for node_id, amounts in reserved.items())
        if settled or port.now() > deadline:
            break
        port.pause(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    foreign = {id: max(used[id], sum(amounts.values())) - amounts.get(ours, 0.0) for id, amounts in reserved.items()}
    return {node_id: round(amount + 0.499) for node_id, amount in foreign.items() if amount > NOISE}


def blocked(plan: Plan, nodes: Mapping[str, RayNode], foreign: Mapping[str, int], share: bool) -> list[str]:
    """Return the names of the plan's nodes without enough free accelerators.

    `nodes`: name -> Ray node.
    """
    masks = held_masks(plan)
    names = []
    for rank, mask in masks.items():
        node = plan.cluster.nodes[rank]
        ray = nodes.get(node.name)
        if ray is not None and foreign.get(ray.node_id, 0):
            need = mask.bit_count() if share and divisible(plan, node, ray) else len(node.accelerators) - node.taken.bit_count()
            if need > len(node.accelerators) - foreign[ray.node_id]:
                names.append(node.name)
    return names


def without_occupied(cluster: Cluster, plan: Plan, nodes: Mapping[str, RayNode], foreign: Mapping[str, int], share: bool) -> Cluster:
    """Return the cluster with others' accelerators as taken; unshared nodes entirely.

    On shared nodes accelerators are interchangeable: those outside the plan count as taken first.
    """
    masks = {plan.cluster.name(rank): mask for rank, mask in held_masks(plan).items()}
    changed = [_node(node, plan, nodes.get(node.name), foreign, share, masks.get(node.name, 0)) for node in cluster.nodes]
    return cluster if changed == list(cluster.nodes) else replace(cluster, nodes=tuple(changed))


def _node(node: Node, plan: Plan, ray: RayNode | None, foreign: Mapping[str, int], share: bool, own_mask: int) -> Node:
    more = foreign.get(ray.node_id, 0) - node.taken.bit_count() if ray is not None else 0
    if more <= 0 or ray is None:
        return node
    if not (share and divisible(plan, node, ray)):
        return replace(node, taken=(1 << len(node.accelerators)) - 1)
    return replace(node, taken=node.taken | _bits(_last(node, own_mask)[:more]))


def _last(node: Node, own_mask: int) -> Sequence[int]:
    """Return the free local indices in order of surrender: outside the plan first, highest
    first.
    """
    free = [index for index in range(len(node.accelerators)) if not node.taken >> index & 1]
    return sorted(free, key=lambda index: (own_mask >> index & 1, -index))


def _bits(indices: Sequence[int]) -> int:
    return sum(1 << index for index in indices)
