"""Ranks that divide something in groups of so many (hybrid sharding): which counts are whole groups, and what suits those that are not.

Source: PyTorch, init_device_mesh (a mesh has as many ranks as its sides multiplied).
"""

from __future__ import annotations

from ..component import Component
from ..findings.wording import do, with_noun
from ..parallel import Parallel


def whole_groups(shards: int, accelerators: int, parallel: Parallel) -> bool:
    """Do the ranks of so many accelerators make whole groups? No more of them than a group has are one; of 0 shards, all are."""
    ranks = accelerators // (parallel.tp * parallel.pp)
    return not shards or ranks <= shards or ranks % shards == 0


def are_whole(component: Component) -> bool:
    """Does it ask only for counts that are whole groups: for one that is, or for no more ranks than one group has?"""
    shards, parallel = component.divided_among, component.parallel
    if component.least == component.most:
        return whole_groups(shards, component.most, parallel)
    return not shards or component.most // (parallel.tp * parallel.pp) <= shards


def not_whole(name: str, ranks: int, shards: int) -> str:
    """One sentence about ranks that make no whole groups."""
    return (
        f"the {with_noun(ranks, 'rank')} of `{name}` {do(ranks)} not divide into groups of {shards} shards: {ranks % shards} would be left"
    )


def fitting(ranks: int, shards: int) -> str:
    """What mends that: the nearest sizes of groups that divide these ranks."""
    fit = [each for each in range(1, ranks) if ranks % each == 0]
    below, above = max(each for each in fit if each < shards), min((each for each in fit if each > shards), default=0)
    return f"write {below} or {above}" if above else f"write {below}, or leave it out where all of them divide"
