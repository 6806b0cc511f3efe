"""Ranges that must leave more whole than the units of a node: pieces of NUMA domains, groups of domains above the node."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from ....models.machines.node_group import ACCELERATOR, Numbering
from ....models.machines.topology import domain, numa_masks

if TYPE_CHECKING:
    from ..bundle import Bundle
    from ..layout import Layout


class Finer:
    """What a range of a numbering holds in each NUMA domain and in each domain above the node, seen in what must stay together there."""

    def __init__(self, layout: Layout, bundle: Bundle, numbering: Numbering) -> None:
        self._numbering, self._bundle, self._cluster = numbering, bundle, layout.problem.cluster
        self._levels = [(size, _runs(layout, numbering, level)) for level, size in bundle.wholes]

    def is_whole(self, start: int, stop: int) -> bool:
        """Does it cut nothing?"""
        if any(amount % size for size, runs in self._levels for amount in _amounts(runs, start, stop).values()):
            return False
        return self._bundle.piece == 1 or self._bundle.kind != ACCELERATOR or self._in_numa_domains(start, stop)

    def _in_numa_domains(self, start: int, stop: int) -> bool:
        for stretch, first, count in self._numbering.pieces(start, stop):
            held = ((1 << count) - 1) << first
            if any((held & mask).bit_count() % self._bundle.piece for mask in numa_masks(self._cluster.nodes[stretch.node_rank])):
                return False
        return True


Domains = tuple[list[int], list[str]]
"""(first resource rank of every stretch of nodes of one domain, and the end of the last; the domains)."""


def _runs(layout: Layout, numbering: Numbering, level: str) -> Domains:
    nodes = layout.problem.cluster.nodes
    names = [domain(nodes[stretch.node_rank], level) for stretch in numbering.stretches]
    return [*accumulate((stretch.count for stretch in numbering.stretches), initial=0)], names


def _amounts(runs: Domains, start: int, stop: int) -> dict[str, int]:
    """Domain -> how much of a range is in it."""
    edges, names = runs
    found: dict[str, int] = {}
    for position in range(bisect_right(edges, start) - 1, bisect_right(edges, stop - 1)):
        held = min(stop, edges[position + 1]) - max(start, edges[position])
        found[names[position]] = found.get(names[position], 0) + held
    return found
