"""Identity of nodes for the life of a launch: Ray's ids change, labels and names do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Sequence

from ....models.machines.cluster import Cluster
from ...port.node import RANK_LABEL, RayNode
from ...world.matching import paired

Sign = tuple[str, str]
"""Identity of a node: rank label, else unique host name, else Ray's id."""


class Roll:
    """Nodes of a cluster by name, and the identities that they keep on return."""

    def __init__(self, cluster: Cluster, available: Sequence[RayNode]) -> None:
        signs = _signs(available)
        pairs = paired(cluster.nodes, available)
        self._names: dict[Sign, str] = {signs[pairs[node.rank].node_id]: node.name for node in cluster.nodes if node.rank in pairs}

    def present(self, available: Sequence[RayNode]) -> dict[str, RayNode]:
        """Return name -> current Ray node, for known nodes."""
        signs = _signs(available)
        return {self._names[sign]: ray for ray in available if (sign := signs[ray.node_id]) in self._names}

    def strangers(self, available: Sequence[RayNode]) -> list[RayNode]:
        """Return the unknown nodes."""
        signs = _signs(available)
        return [ray for ray in available if signs[ray.node_id] not in self._names]

    def add(self, name: str, node: RayNode, available: Sequence[RayNode]) -> None:
        """Map this Ray node to a name from now on."""
        self._names[_signs(available)[node.node_id]] = name

    def ranked(self, cluster: Cluster, available: Sequence[RayNode]) -> list[RayNode]:
        """Return the present nodes of a cluster in rank order, labelled with their ranks."""
        present = self.present(available)
        named = ((node.rank, present.get(node.name)) for node in cluster.nodes)
        return [replace(ray, labels={**ray.labels, RANK_LABEL: str(rank)}) for rank, ray in named if ray is not None]


def _signs(available: Sequence[RayNode]) -> dict[str, Sign]:
    """Return Ray node id -> identity."""
    hosts = [ray.name for ray in available]
    return {ray.node_id: _sign(ray, hosts) for ray in available}


def _sign(ray: RayNode, hosts: Sequence[str]) -> Sign:
    if ray.rank is not None:
        return "rank", str(ray.rank)
    return ("name", ray.name) if hosts.count(ray.name) == 1 else ("id", ray.node_id)
