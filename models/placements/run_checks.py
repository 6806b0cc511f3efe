"""Checks of runs, and their transfer to another cluster."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import Mapping, Sequence

from ..machines.cluster import Cluster
from ..machines.node_group import NODE, NODE_LABEL
from .assignment import Assignment
from .plan import Plan
from .run import Repeat, Run, Runs, repeats_of

MAX_PROCESSES = 1 << 20
_TOO_MANY = f"it has more than {MAX_PROCESSES:,} processes"


class Claims:
    """Set of ranks as disjoint, non-adjacent, ascending ranges; cheap in the number of ranks."""

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


def carry_over(plan: Plan, cluster: Cluster) -> Assignment:
    """Return a plan's placement on equally named nodes; processes on lost nodes have none."""
    ranks = {node.name: node.rank for node in cluster.nodes}
    runs = {}
    for name in plan.components:
        runs_with_ranks = ((run, ranks.get(plan.cluster.name(run.node))) for run in plan.assignment.of(name))
        runs[name] = tuple(replace(run, node=rank) for run, rank in runs_with_ranks if rank is not None)
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
    """Raise ValueError if the cluster lacks a run's resources."""
    if not 0 <= run.node < len(cluster.nodes):
        raise ValueError(f"`{name}` is on a node that the plan's cluster does not have")
    if run.ranks.stop > MAX_PROCESSES:
        raise ValueError(_TOO_MANY)
    if run.ranks.step != 1 or run.ranks.start < 0 or run.each < 0:
        raise ValueError(f"`{name}` has process ranks or resources beyond what can be counted")
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


def deal_round_robin(workers: int, nodes: int) -> Sequence[Run]:
    """Return runs with process r on node r modulo the number of nodes."""
    if nodes == 1:
        return Runs([Repeat((Run(range(workers), 0, NODE, 0, 0, 1, 0, NODE_LABEL),))] if workers else [])
    rounds = [(first, min(nodes, workers - first)) for first in range(0, workers, nodes)]
    return Runs(Repeat((Run(range(first, first + 1), 0, NODE, 0, 0, 1, 0, NODE_LABEL),), count) for first, count in rounds)


def why_not(runs: Sequence[Run], in_order: bool) -> str:
    """Return the code of the rule that a component's runs break; else "".

    The cost grows with repeats. PW203: a process on several nodes. PW302: a process with two kinds
    of hardware. PW210: with `in_order`, a node after a higher one. PW108: a resource numbered in
    two node groups, and held through both.
    """
    before: Run | None = None
    for repeat in repeats_of(runs):
        for run in repeat.runs:
            if before is not None:
                if run.ranks.start < before.ranks.stop:
                    if run.node != before.node:
                        return "PW203"
                    if run.kind != before.kind:
                        return "PW302"
                if in_order and run.node < before.node:
                    return "PW210"
            before = run
        before = repeat.on(repeat.nodes - 1)[-1]
    return "PW108" if twice(runs) else ""


def twice(runs: Sequence[Run]) -> tuple[Run, str, int] | None:
    """Return (run, second group's label, lowest resource held through both groups); else None."""
    if len({run.node_group for repeat in repeats_of(runs) for run in repeat.runs}) < 2:
        return None
    masks_by_node: dict[tuple[int, str], dict[str, int]] = {}
    for run in runs:
        groups = masks_by_node.setdefault((run.node, run.kind), {})
        for label, mask in groups.items():
            both = mask & run.mask
            if label != run.node_group and both:
                return run, label, (both & -both).bit_length() - 1
        groups[run.node_group] = groups.get(run.node_group, 0) | run.mask
    return None
