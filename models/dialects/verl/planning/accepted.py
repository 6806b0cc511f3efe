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
) -> dict[str, tuple[Accepted, str]]:  # fmt: skip
    """Component -> the counts and degrees with which the fewest kinds of errors are told of it and of its pool, and one that always is.

    `degrees` are the choices of the components of the pool, with the numbers that say them. The counts are those of parts of one
    node, and of whole nodes.
    """
    every = _sizes(cluster)
    tries = max(1, sum(map(len, degrees.values())))
    sizes = every[: max(1, MOST_TRIED // tries)]
    found: dict[str, tuple[Accepted, str]] = {}
    known: dict[tuple[tuple[str, int], ...], dict[str, list[str]]] = {}
    for name, choices in degrees.items():
        faults = {}
        for nodes, each in sizes:
            for parallel, said in choices.items():
                changes = {pool.nodes_key: nodes, pool.accelerators_key: each, **said}
                key = tuple(sorted(changes.items()))
                if key not in known:
                    known[key] = _faults(again(changes), pool)
                faults[nodes * each, parallel] = known[key][name]
        least = min(map(len, faults.values()), default=0)
        best = {pair: told for pair, told in faults.items() if len(told) == least}
        judged_later = {(nodes * each, parallel) for nodes, each in every[len(sizes) :] for parallel in choices}
        found[name] = frozenset({*best, *judged_later}), next((told[0] for told in reversed(best.values()) if told), "")
    return found


def _faults(setup: Setup, pool: Pool) -> dict[str, list[str]]:
    """Component of the pool -> an error of each kind that is told of it or of the pool; one more where its replicas are torn."""
    errors = [each for each in setup.notes.findings if each.severity is Severity.ERROR]
    told = {(each.code, each.subject): each.message for each in errors}
    torn = {each.name: f"its replicas of {each.parallel} would be torn" for each in setup.components if not is_whole(setup, each)}
    return {
        name: [message for (_, subject), message in told.items() if subject in ("", pool.name, name)]
        + ([torn[name]] if name in torn else [])
        for name in pool.components
    }


def _sizes(cluster: Cluster) -> list[tuple[int, int]]:
    """(nodes, accelerators on each): parts of one node, then whole ones."""
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    free = sorted((count for count in counts if count), reverse=True)
    if not free:
        return []
    parts = [(1, count) for count in range(1, free[0] + 1)]
    return parts + [(nodes, free[nodes - 1]) for nodes in range(2, len(free) + 1) if free[nodes - 1] == free[0]]
