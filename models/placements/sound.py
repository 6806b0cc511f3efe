"""Checks and transfer of runs from files and foreign clusters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import Mapping, Sequence

from ..machines.cluster import Cluster
from ..machines.node_group import NODE, NODE_LABEL
from .assignment import Assignment
from .plan import Plan
from .run import Repeat, Run, Runs

MAX_PROCESSES = 1 << 20
_TOO_MANY = f"it has more than {MAX_PROCESSES:,} processes"


class Claims:
    """Set of ranks as disjoint, non-adjacent, ascending ranges.

    The cost of all claims depends on the number of ranges, not of ranks.
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._stops: list[int] = []

    def claim(self, ranks: range) -> tuple[range, ...]:
        """Claim ranks; return the parts with an earlier claim."""
        low = bisect_left(self._stops, ranks.start)
        high = bisect_right(self._starts, ranks.stop)
        spans = list(zip(self._starts[low:high], self._stops[low:high]))
        if ranks:
            self._starts[low:high] = [min([ranks.start, *self._starts[low:high]])]
            self._stops[low:high] = [max([ranks.stop, *self._stops[low:high]])]
        parts = (range(max(start, ranks.start), min(stop, ranks.stop)) for start, stop in spans)
        return tuple(part for part in parts if part)


def carried(plan: Plan, cluster: Cluster) -> Assignment:
    """Return the placement of a plan on equally named nodes of another cluster.

    Processes keep their ranks; those on lost nodes have no place. A run may hold resources that its
    node no longer has.
    """
    ranks = {node.name: node.rank for node in cluster.nodes}
    runs = {}
    for name in plan.components:
        placed = ((run, ranks.get(plan.cluster.name(run.node))) for run in plan.assignment.of(name))
        runs[name] = tuple(replace(run, node=rank) for run, rank in placed if rank is not None)
    return Assignment(runs)


def must_be_sound(cluster: Cluster, runs: Mapping[str, Sequence[Run]]) -> None:
    """Raise ValueError if the cluster lacks a run's resources, or ranks have holes."""
    for name, runs_of_name in runs.items():
        for run in runs_of_name:
            _must_exist(cluster, name, run)
        _must_follow(name, runs_of_name)
    if sum(len(run.ranks) for runs_of_name in runs.values() for run in runs_of_name) > MAX_PROCESSES:
        raise ValueError(_TOO_MANY)


def _must_exist(cluster: Cluster, name: str, run: Run) -> None:
    """Raise ValueError if the cluster lacks a run's resources.

    A plan that was made here never does.
    """
    if not 0 <= run.node < len(cluster.nodes):
        raise ValueError(f"`{name}` is on a node that the plan's cluster does not have")
    if run.ranks.stop > MAX_PROCESSES:
        raise ValueError(_TOO_MANY)
    if run.ranks.step != 1 or run.ranks.start < 0 or run.each < 0:
        raise ValueError(f"`{name}` has process ranks or resources that nobody counts")
    count, (low, high) = cluster.nodes[run.node].count(run.kind), run.within
    if (run.step == 0 and run.each > 1) or not run.ranks or (run.each == 0) != (run.kind == NODE) or low < 0 or high >= count:
        raise ValueError(f"`{name}` holds resources that node {run.node} does not have ({run.kind}: {count})")
    if run.node_group not in cluster.groups:
        raise ValueError(f"`{name}` is in node group `{run.node_group}`, which the plan's cluster does not have")


def _must_follow(name: str, runs: Sequence[Run]) -> None:
    """Raise ValueError unless the ranks of a component are 0, 1, ... to the last, in order."""
    following = 0
    for run in runs:
        if not following - 1 <= run.ranks.start <= following or (run.ranks.start < following and len(run.ranks) > 1) or not runs:
            raise ValueError(f"the ranks of `{name}` do not follow each other: {run.ranks.start} where {following} comes next")
        following = run.ranks.stop
    if not following:
        raise ValueError(f"`{name}` has no process")


def in_turn(workers: int, nodes: int) -> Sequence[Run]:
    """Return runs with process r on node r modulo the number of nodes."""
    if nodes == 1:
        return Runs([Repeat((Run(range(workers), 0, NODE, 0, 0, 1, 0, NODE_LABEL),))] if workers else [])
    rounds = [(first, min(nodes, workers - first)) for first in range(0, workers, nodes)]
    return Runs(Repeat((Run(range(first, first + 1), 0, NODE, 0, 0, 1, 0, NODE_LABEL),), count) for first, count in rounds)
