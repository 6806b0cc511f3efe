"""Nodes of a launch over its life: present, and occupied by other jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Mapping, Sequence

from ...models.machines.cluster import Cluster
from ...models.machines.node import Node
from ...models.placements.plan import Plan
from ..port.port import RANK_LABEL, Port, RayNode, attempts
from ..reserving.fitting import NOISE
from ..reserving.reservation import REACH_LIMIT, WAIT_LIMIT, list_held
from ..running.start import StartOptions
from ..world.inventory import inventory
from ..world.matching import held_masks, is_interchangeable, pair_nodes
from ..world.ray_machine import resource_of

NodeIdentity = tuple[str, str]
"""Identity of a node: rank label, else unique host name, else Ray's id."""


class NodeRoster:
    """Nodes of a cluster by name, and the identities that they keep on return."""

    def __init__(self, cluster: Cluster, available: Sequence[RayNode]) -> None:
        identities = _identities(available)
        pairs = pair_nodes(cluster.nodes, available)
        self._names: dict[NodeIdentity, str] = {
            identities[pairs[node.rank].node_id]: node.name for node in cluster.nodes if node.rank in pairs
        }

    def present(self, available: Sequence[RayNode]) -> dict[str, RayNode]:
        """Return name -> current Ray node, for known nodes."""
        identities = _identities(available)
        return {self._names[identity]: ray for ray in available if (identity := identities[ray.node_id]) in self._names}

    def rank(self, cluster: Cluster, available: Sequence[RayNode]) -> list[RayNode]:
        """Return the present nodes of a cluster in rank order, labelled with their ranks."""
        present = self.present(available)
        nodes_of_ranks = ((node.rank, present.get(node.name)) for node in cluster.nodes)
        return [replace(ray, labels={**ray.labels, RANK_LABEL: str(rank)}) for rank, ray in nodes_of_ranks if ray is not None]


def _identities(available: Sequence[RayNode]) -> dict[str, NodeIdentity]:
    """Return Ray node id -> identity."""
    hosts = Counter(ray.name for ray in available)
    identities = {}
    for ray in available:
        identity = ("name", ray.name) if hosts[ray.name] == 1 else ("id", ray.node_id)
        identities[ray.node_id] = identity if ray.rank is None else ("rank", str(ray.rank))
    return identities


def count_occupied(port: Port) -> dict[str, int]:
    """Return Ray node id -> number of accelerators in use by others.

    Nodes without such use are omitted. Released accelerators count as used until Ray has noticed.
    Use without a reservation, such as a single task with a GPU, is therefore believed only after a
    moment.
    """
    for _ in attempts(port, WAIT_LIMIT):
        nodes, holdings = port.nodes(), port.holdings()
        use = {node.node_id: node.total.get(resource_of(node), 0.0) - node.free.get(resource_of(node), 0.0) for node in nodes}
        reservations = {node.node_id: list_held(holdings, resource_of(node)).get(node.node_id, {}) for node in nodes}
        if all(use[node_id] <= sum(amounts.values()) + NOISE for node_id, amounts in reservations.items()):
            break
    foreign = {id: max(use[id], sum(amounts.values())) for id, amounts in reservations.items()}
    return {node_id: round(amount + 0.499) for node_id, amount in foreign.items() if amount > NOISE}


def without_occupied(cluster: Cluster, plan: Plan, nodes: Mapping[str, RayNode], foreign: Mapping[str, int], share: bool) -> Cluster:
    """Return the cluster with others' accelerators as taken; unshared nodes entirely.

    On shared nodes accelerators are interchangeable: those outside the plan count as taken first.
    """
    masks = {plan.cluster.name(rank): mask for rank, mask in held_masks(plan).items()}
    new_nodes = [_node(node, plan, nodes.get(node.name), foreign, share, masks.get(node.name, 0)) for node in cluster.nodes]
    return cluster if new_nodes == list(cluster.nodes) else replace(cluster, nodes=tuple(new_nodes))


def _node(node: Node, plan: Plan, ray: RayNode | None, foreign: Mapping[str, int], share: bool, own_mask: int) -> Node:
    more = foreign.get(ray.node_id, 0) - node.taken.bit_count() if ray is not None else 0
    if more <= 0 or ray is None:
        return node
    if not (share and is_interchangeable(plan, node, ray)):
        return replace(node, taken=(1 << len(node.accelerators)) - 1)
    return replace(node, taken=node.taken | sum(1 << index for index in _last(node, own_mask)[:more]))


def _last(node: Node, own_mask: int) -> Sequence[int]:
    """Return the free indices in order of surrender: outside the plan, highest first."""
    free = [index for index in range(len(node.accelerators)) if not node.taken >> index & 1]
    return sorted(free, key=lambda index: (own_mask >> index & 1, -index))


class Membership:
    """Mapping of Ray nodes to the cluster of a launch."""

    def __init__(self, cluster: Cluster, options: StartOptions) -> None:
        self.cluster = cluster
        self._options = options
        self._roster: NodeRoster | None = None

    @property
    def roster(self) -> NodeRoster:
        """Identity of the nodes as the launch began."""
        if self._roster is None:
            self._roster = NodeRoster(self.cluster, inventory(self._options.port, self._options.seen.reports))
        return self._roster

    def present(self) -> dict[str, RayNode]:
        """Return the known nodes that Ray reports, by name."""
        return self.roster.present(inventory(self._options.port))

    def there(self) -> dict[str, RayNode]:
        """Return the known reachable nodes, by name; Ray may still report others."""
        present = self.present()
        unreachable = self._options.port.unreachable(list(present.values()), REACH_LIMIT)
        return {name: ray for name, ray in present.items() if ray.node_id not in unreachable}

    def room(self, reachable: dict[str, RayNode], plan: Plan) -> tuple[Cluster, list[str]]:
        """Return (cluster with others' use as taken, nodes of the plan without capacity)."""
        amounts = count_occupied(self._options.port)
        cluster = without_occupied(self.cluster, plan, reachable, amounts, self._options.share_nodes)
        masks = {node.name: node.taken for node in cluster.nodes if node.name in reachable}
        occupied_names = [name for rank, mask in held_masks(plan).items() if mask & masks.get(name := plan.cluster.name(rank), 0)]
        return cluster, occupied_names
