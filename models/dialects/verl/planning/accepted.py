"""Which counts and degrees verl takes: found by reading the job with these numbers in the place of those that are written."""

from __future__ import annotations

from typing import Callable, Mapping

from ....component import Parallel
from ....findings.finding import Severity
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....pools.pool import Pool
from ..components.built import is_whole
from ..setup import Setup

MOST_TRIED = 2048
"""Readings that are made; what needs more is taken to be accepted, and judged when it is written."""
Again = Callable[[Mapping[str, int]], Setup]
"""The job with other numbers in the place of those that are written, judged in all respects."""
Accepted = frozenset[tuple[int, Parallel]]


def accepted(
    pool: Pool, cluster: Cluster, degrees: Mapping[str, Mapping[Parallel, Mapping[str, int]]], again: Again
) -> dict[str, Accepted]:  # fmt: skip
    """Component -> the counts and degrees with which the fewest kinds of errors are told of it and of its pool.

    `degrees` are the choices of the components of the pool, with the numbers that say them. The counts are those of parts of one
    node, and of whole nodes.
    """
    every = _sizes(cluster)
    tries = max(1, sum(map(len, degrees.values())))
    sizes = every[: max(1, MOST_TRIED // tries)]
    found: dict[str, Accepted] = {}
    known: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    for name, choices in degrees.items():
        faults = {}
        for nodes, each in sizes:
            for parallel, said in choices.items():
                changes = {pool.nodes_key: nodes, pool.accelerators_key: each, **said}
                key = tuple(sorted(changes.items()))
                if key not in known:
                    known[key] = _faults(again(changes), pool)
                faults[nodes * each, parallel] = known[key][name]
        least = min(faults.values(), default=0)
        found[name] = frozenset(pair for pair, count in faults.items() if count == least)
        found[name] |= {(nodes * each, parallel) for nodes, each in every[len(sizes) :] for parallel in choices}
    return found


def _faults(setup: Setup, pool: Pool) -> dict[str, int]:
    """Component of the pool -> how many kinds of errors are told of it or of the pool; one more where its replicas are torn."""
    told = {(each.code, each.subject) for each in setup.notes.findings if each.severity is Severity.ERROR}
    torn = {each.name for each in setup.components if not is_whole(setup, each)}
    return {name: sum(subject in ("", pool.name, name) for _, subject in told) + (name in torn) for name in pool.components}


def _sizes(cluster: Cluster) -> list[tuple[int, int]]:
    """(nodes, accelerators on each): parts of one node, then whole ones."""
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    free = sorted((count for count in counts if count), reverse=True)
    if not free:
        return []
    parts = [(1, count) for count in range(1, free[0] + 1)]
    return parts + [(nodes, free[nodes - 1]) for nodes in range(2, len(free) + 1) if free[nodes - 1] == free[0]]
