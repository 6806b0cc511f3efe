"""Runs that came from elsewhere: whether they could be an answer for a cluster at all, so that everything may be asked of them."""

from __future__ import annotations

from typing import Mapping, Sequence

from ..machines.cluster import Cluster
from ..machines.node_group import NODE
from .run import Run

MAX_PROCESSES = 1 << 20
_TOO_MANY = f"it has more than {MAX_PROCESSES:,} processes"


def must_be_sound(cluster: Cluster, runs: Mapping[str, Sequence[Run]]) -> None:
    """Raises ValueError if a run holds what the cluster does not have, or ranks do not follow each other."""
    for name, its in runs.items():
        for run in its:
            _must_exist(cluster, name, run)
        _must_follow(name, its)
    if sum(len(run.ranks) for its in runs.values() for run in its) > MAX_PROCESSES:
        raise ValueError(_TOO_MANY)


def _must_exist(cluster: Cluster, name: str, run: Run) -> None:
    """Raises ValueError if a run holds what the cluster does not have: a plan that was made here never does."""
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
    """Raises ValueError if the ranks of a component are not 0, 1, ... to the last, in order."""
    following = 0
    for run in runs:
        if not following - 1 <= run.ranks.start <= following or (run.ranks.start < following and len(run.ranks) > 1) or not runs:
            raise ValueError(f"the ranks of `{name}` do not follow each other: {run.ranks.start} where {following} comes next")
        following = run.ranks.stop
    if not following:
        raise ValueError(f"`{name}` has no process")
