"""Pools on the nodes of a cluster: where each part goes, and why it cannot go anywhere."""

from __future__ import annotations

from typing import Mapping

from ....machines.cluster import Cluster
from ....machines.shorthand import AsDeclared
from ....placements.assignment import Runs
from ....pools.layout import Layout, cut, lay_out, rooms_of
from ..configuration import Configuration
from ..entries import Entry
from .declared import FIT, Declared
from .machines import assumed, one_each
from .room import Suits, judge_room


def placed(
    settings: Configuration, entry: Entry, declared: Declared, machines: Cluster | AsDeclared | None, suits: Suits
) -> tuple[Cluster, Mapping[str, Runs]]:
    """The cluster, and the ranks of every component of the pools.

    `suits` tells whether other values of keys are right in all respects. Where the parts have no room on the given machines, that is said, and the rest is judged on those that the file speaks of.
    """
    if isinstance(machines, Cluster):
        given, layout = machines, lay_out(declared.pools, rooms_of(machines), entry.reserves)
    else:
        given, layout = assumed(declared, machines)
    if machines is None and declared.pools and not declared.nodes:
        most = max((parts.size for pool in declared.pools for parts in pool.parts), default=8)
        why = "machines unknown; a node for each part of a pool is assumed"
        settings.notes.unsure(FIT, "", why, True, f"Pass `--cluster x{most}`")
    if layout.short is not None:
        layout = judge_room(settings, entry, declared, given, layout, suits)
        if layout.short is not None:
            given, layout = one_each(declared)
    return given, _runs(declared, layout)


def _runs(declared: Declared, layout: Layout) -> dict[str, Runs]:
    found = {}
    for pool in declared.pools:
        runs = layout.runs(pool.name)
        for name in pool.components:
            found[name] = cut(runs, *declared.ranges[name]) if name in declared.ranges else runs
    return found
