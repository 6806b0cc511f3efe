"""Which counts and degrees verl takes: found by reading the job with these numbers in the place of those that are written."""

from __future__ import annotations

from typing import Callable, Iterator, Mapping, Sequence

from ....component import Parallel
from ....findings.finding import Severity
from ....machines.cluster import Cluster
from ....machines.node_group import ACCELERATOR
from ....pools.laying import fitting
from ....pools.pool import Pool
from ..components.built import is_whole
from ..setup import Setup

MOST_TRIED = 2048
"""Readings that are made; what needs more is taken to be accepted, and judged when it is written."""
MOST_BESIDE = 256
"""Readings of sizes whose nodes are not whole, besides; what needs more is not proposed."""
Size = tuple[int, int]
"""(parts, accelerators of each)."""
Again = Callable[[Mapping[str, int]], Setup]
"""The job with other numbers in the place of those that are written, judged in all respects."""
Accepted = frozenset[tuple[int, Parallel]]


def accepted(
    pool: Pool, cluster: Cluster, degrees: Mapping[str, Mapping[Parallel, Mapping[str, int]]], again: Again
) -> dict[str, tuple[Accepted, str]]:  # fmt: skip
    """Component -> the counts and degrees with which the fewest kinds of errors are told of it and of its pool, and one that always is.

    `degrees` are the choices of the components of the pool, with the numbers that say them. The counts are those of parts of one
    node, of whole nodes, of the pool as the file has it, and of as many equal parts, each on a node of its own and then several on one,
    as are soon read.
    """
    free = _free(cluster)
    every = _sizes(free)
    tries = max(1, sum(map(len, degrees.values())))
    sizes = every[: max(1, MOST_TRIED // tries)]
    own = [(parts.count, parts.size) for parts in pool.parts if parts.size and parts.count <= _most(free, parts.size)]
    beside = [pair for pair in dict.fromkeys((*own, *_beside(free))) if pair not in every]
    found: dict[str, tuple[Accepted, str]] = {}
    known: dict[tuple[tuple[str, int], ...], dict[str, list[str]]] = {}
    for name, choices in degrees.items():
        faults: dict[tuple[int, Parallel], list[str]] = {}
        for nodes, each in (*sizes, *beside[: max(len(own), MOST_BESIDE // tries)]):
            for parallel, said in choices.items():
                changes = {pool.nodes_key: nodes, pool.accelerators_key: each, **said}
                key = tuple(sorted(changes.items()))
                if key not in known:
                    known[key] = _faults(again(changes), pool)
                pair = nodes * each, parallel
                faults[pair] = min(faults.get(pair, known[key][name]), known[key][name], key=len)
        least = min(map(len, faults.values()), default=0)
        best = {pair: told for pair, told in faults.items() if len(told) == least}
        judged_later = {(nodes * each, parallel) for nodes, each in every[len(sizes) :] for parallel in choices}
        largest = sorted(best.items(), key=lambda its: its[0][0])
        found[name] = frozenset({*best, *judged_later}), next((told[0] for _, told in reversed(largest) if told), "")
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


def _free(cluster: Cluster) -> list[int]:
    """How many accelerators are free on each node that has some, the most first."""
    counts = (node.free(ACCELERATOR).bit_count() for node in cluster.nodes)
    return sorted((count for count in counts if count), reverse=True)


def _most(free: Sequence[int], size: int) -> int:
    """How many parts of a size have room, several on one node where it has."""
    return fitting([(count, 1) for count in free], size)


def _sizes(free: Sequence[int]) -> list[Size]:
    """Parts of one node, then whole ones."""
    parts = [(1, count) for count in range(1, max(free, default=0) + 1)]
    return parts + [(nodes, free[nodes - 1]) for nodes in range(2, len(free) + 1) if free[nodes - 1] == free[0]]


def _beside(free: Sequence[int]) -> list[Size]:
    """What is neither: parts on nodes of their own, then several on one, of these first what comes to counts that nothing else does."""
    apart = list(_uneven(free))
    counts = {parts * size for parts, size in (*_sizes(free), *apart)}
    return apart + sorted(_packed(free), key=lambda its: its[0] * its[1] in counts)


def _uneven(free: Sequence[int]) -> Iterator[Size]:
    """The same with a part of each of several nodes, the fewest nodes first."""
    return ((nodes, each) for nodes in range(2, len(free) + 1) for each in range(free[nodes - 1], 0, -1))


def _packed(free: Sequence[int]) -> Iterator[Size]:
    """The same with several parts on one of the nodes, the largest first."""
    return (
        (parts, each)
        for each in range(max(free, default=0) // 2, 0, -1)
        for parts in range(sum(count >= each for count in free) + 1, _most(free, each) + 1)
    )
