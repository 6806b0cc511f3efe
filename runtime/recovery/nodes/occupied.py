"""What other jobs hold of the nodes on which a launch is to start again: the question does without it."""

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
    """Ray's node id -> how many accelerators others than the reservation named `ours` hold there, where they hold any.

    What was just released counts as held until Ray has seen it. What no reservation says, such as a single task with a GPU, is
    therefore believed only after a moment.
    """
    deadline, pause = port.now() + WAIT_LIMIT, FIRST_PAUSE
    while True:
        nodes, holdings = port.nodes(), port.holdings()
        used = {node.node_id: node.total.get(resource_of(node), 0.0) - node.free.get(resource_of(node), 0.0) for node in nodes}
        held = {node.node_id: held_on(holdings, resource_of(node)).get(node.node_id, {}) for node in nodes}
        settled = all(used[node_id] <= sum(its.values()) + NOISE for node_id, its in held.items())
        if settled or port.now() > deadline:
            break
        port.pause(pause)
        pause = min(2 * pause, LONGEST_PAUSE)
    others = {id: max(used[id], sum(its.values())) - its.get(ours, 0.0) for id, its in held.items()}
    return {node_id: round(amount + 0.499) for node_id, amount in others.items() if amount > NOISE}


def blocked(plan: Plan, nodes: Mapping[str, RayNode], others: Mapping[str, int], share: bool) -> list[str]:
    """The names of the nodes of a plan of which others hold what it would hold; `nodes`: name -> the Ray node that stands for it."""
    masks = held_masks(plan)
    found = []
    for rank, mask in masks.items():
        node = plan.cluster.nodes[rank]
        ray = nodes.get(node.name)
        if ray is not None and others.get(ray.node_id, 0):
            need = mask.bit_count() if share and divisible(plan, node, ray) else len(node.accelerators) - node.taken.bit_count()
            if need > len(node.accelerators) - others[ray.node_id]:
                found.append(node.name)
    return found


def without_occupied(cluster: Cluster, plan: Plan, nodes: Mapping[str, RayNode], others: Mapping[str, int], share: bool) -> Cluster:
    """The cluster with what others hold counted as taken; of a node that cannot be shared, all of it.

    Where nodes are shared, any accelerators stand for any others: those count as taken that the plan does not hold.
    """
    masks = {plan.cluster.name(rank): mask for rank, mask in held_masks(plan).items()}
    changed = [_node(node, plan, nodes.get(node.name), others, share, masks.get(node.name, 0)) for node in cluster.nodes]
    return cluster if changed == list(cluster.nodes) else replace(cluster, nodes=tuple(changed))


def _node(node: Node, plan: Plan, ray: RayNode | None, others: Mapping[str, int], share: bool, ours: int) -> Node:
    more = others.get(ray.node_id, 0) - node.taken.bit_count() if ray is not None else 0
    if more <= 0 or ray is None:
        return node
    if not (share and divisible(plan, node, ray)):
        return replace(node, taken=(1 << len(node.accelerators)) - 1)
    return replace(node, taken=node.taken | _bits(_last(node, ours)[:more]))


def _last(node: Node, ours: int) -> Sequence[int]:
    """The free local indices, those first that are given away first: none of the plan's, the highest."""
    free = [index for index in range(len(node.accelerators)) if not node.taken >> index & 1]
    return sorted(free, key=lambda index: (ours >> index & 1, -index))


def _bits(indices: Sequence[int]) -> int:
    return sum(1 << index for index in indices)
