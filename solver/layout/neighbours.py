"""Which nodes are in the same domains of the topology."""

from __future__ import annotations

from ...models.machines.cluster import Cluster
from ...models.machines.topology import NODE_LEVEL, domain


class Neighbours:
    """For every node the lowest rank of a node that is in the same domain, level by level."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lowest: dict[str, list[int]] = {}

    def _of(self, level: str) -> list[int]:
        if level not in self._lowest:
            first: dict[str, int] = {}
            found = self._lowest[level] = []
            for alike in self._cluster.alike:
                lowest = first.setdefault(domain(alike.node, level), alike.node.rank)
                found += [lowest] * alike.count
        return self._lowest[level]

    def of(self, level: str, node: int) -> int:
        """The lowest rank of a node in the same domain of a level, not below the node, as this one."""
        return node if level == NODE_LEVEL else self._of(level)[node]

    def nests(self, wide: str, narrow: str) -> bool:
        """Is every domain of the one level inside one domain of the other?"""
        inside: dict[int, int] = {}
        return all(inside.setdefault(its, around) == around for its, around in zip(self._of(narrow), self._of(wide)))

    def stretches(self, level: str) -> list[tuple[int, range]]:
        """(the lowest rank of a node in the domain, the ranks of nodes on end that are in it), in the order of the nodes."""
        found: list[tuple[int, range]] = []
        for rank, name in enumerate(self._of(level)):
            if found and found[-1][0] == name:
                found[-1] = (name, range(found[-1][1].start, rank + 1))
            else:
                found.append((name, range(rank, rank + 1)))
        return found
