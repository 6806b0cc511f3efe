"""Which node of the problem is which node of Ray, for as long as a launch lives: Ray's ids change, labels and names do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.machines.cluster import Cluster
from ...port.node import RANK_LABEL, RayNode
from ...world.matching import paired

Sign = tuple[str, str]
"""What a node is known by: its rank label, its host name if no other has it, or Ray's id of it."""


class Roll:
    """The nodes of a cluster by their names, and by what each is known when it comes back."""

    def __init__(self, cluster: Cluster, available: Sequence[RayNode]) -> None:
        signs = _signs(available)
        pairs = paired(cluster.nodes, available)
        self._names: dict[Sign, str] = {signs[pairs[node.rank].node_id]: node.name for node in cluster.nodes if node.rank in pairs}

    def present(self, available: Sequence[RayNode]) -> dict[str, RayNode]:
        """Name -> the Ray node that now stands for it, of those that are there and known."""
        signs = _signs(available)
        return {self._names[sign]: ray for ray in available if (sign := signs[ray.node_id]) in self._names}

    def strangers(self, available: Sequence[RayNode]) -> list[RayNode]:
        """The nodes that are there and not known."""
        signs = _signs(available)
        return [ray for ray in available if signs[ray.node_id] not in self._names]

    def add(self, name: str, node: RayNode, available: Sequence[RayNode]) -> None:
        """From now on this node of Ray is known by this name."""
        self._names[_signs(available)[node.node_id]] = name

    def ranked(self, cluster: Cluster, available: Sequence[RayNode]) -> list[RayNode]:
        """The nodes that are there of a cluster, labelled with their ranks in it, in their order."""
        there = self.present(available)
        named = ((node.rank, there.get(node.name)) for node in cluster.nodes)
        return [replace(ray, labels={**ray.labels, RANK_LABEL: str(rank)}) for rank, ray in named if ray is not None]


def _signs(available: Sequence[RayNode]) -> dict[str, Sign]:
    """Ray's id of each node -> what it is known by."""
    hosts = [ray.name for ray in available]
    return {ray.node_id: _sign(ray, hosts) for ray in available}


def _sign(ray: RayNode, hosts: Sequence[str]) -> Sign:
    if ray.rank is not None:
        return "rank", str(ray.rank)
    return ("name", ray.name) if hosts.count(ray.name) == 1 else ("id", ray.node_id)
